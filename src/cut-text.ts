const graphemes = new Intl.Segmenter();

/**
 * A text of at most `most` UTF-16 units, as the limits of GitHub and Slack are kept. It is cut between two characters that
 * people see, with an ellipsis: half an emoji is not valid in JSON.
 */
export const cutText = (text: string, most: number): string =>
  text.length <= most ? text : `${beginningOf(text, most - 1)}…`;

/** The same for people, who count an emoji once: at most `most` code points. */
export function cutCharacters(text: string, most: number): string {
  let at = 0;
  for (let left = most - 1; left > 0 && at < text.length; left--) at += sizeAt(text, at);
  return at + sizeAt(text, at) >= text.length ? text : `${beginningOf(text, at)}…`;
}

const sizeAt = (text: string, at: number): number => (text.codePointAt(at)! > 0xffff ? 2 : 1);

/** At most `at` units of a longer text. Characters can be joined to one that is longer than all that fits. */
function beginningOf(text: string, at: number): string {
  const { index } = graphemes.segment(text).containing(at)!;
  const isInPair = at > 0 && sizeAt(text, at - 1) === 2;
  return text.slice(0, index > 0 ? index : isInPair ? at - 1 : at);
}
