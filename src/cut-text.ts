const graphemes = new Intl.Segmenter();

/**
 * A text of at most `most` characters (code points). It is cut between two characters that people see, with an ellipsis:
 * half an emoji is not valid in JSON.
 */
export function cutText(text: string, most: number): string {
  let at = 0;
  for (let left = most - 1; left > 0 && at < text.length; left--) at += sizeAt(text, at);
  if (at + sizeAt(text, at) >= text.length) return text;
  const { index } = graphemes.segment(text).containing(at)!;
  // Characters can be joined to one that is longer than all that fits.
  return `${text.slice(0, index || at)}…`;
}

const sizeAt = (text: string, at: number): number => (text.codePointAt(at)! > 0xffff ? 2 : 1);
