const graphemes = new Intl.Segmenter();

/**
 * A text of at most `most` UTF-16 units, as JSON, zod and the limits of GitHub and Slack count. It is cut between two
 * characters that people see, with an ellipsis: half an emoji is not valid in JSON.
 */
export function cutText(text: string, most: number): string {
  if (text.length <= most) return text;
  const at = most - 1;
  const { index } = graphemes.segment(text).containing(at)!;
  // Characters can be joined to one that is longer than all that fits.
  const isInPair = /[\udc00-\udfff]/.test(text[at]!) && /[\ud800-\udbff]/.test(text[at - 1] ?? '');
  return `${text.slice(0, index > 0 ? index : isInPair ? at - 1 : at)}…`;
}
