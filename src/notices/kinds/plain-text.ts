// Texts that people wrote, in places that read markup.

/** The lines that fit, escaped. The first that does not fit is cut, and the lines after it are left out. */
export function fitLines(lines: string[], most: number, escape: (text: string) => string): string[] {
  const fitting: string[] = [];
  let left = most;
  for (const line of lines) {
    const whole = escape(line);
    const shown = whole.length <= left ? whole : cut(line, left, escape);
    if (shown === '') break;
    fitting.push(shown);
    if (shown !== whole) break;
    // One more for what joins the lines.
    left -= shown.length + 1;
  }
  return fitting;
}

/** The longest beginning whose escaped form fits, with an ellipsis; empty if not even that fits. */
function cut(line: string, most: number, escape: (text: string) => string): string {
  const characters = Array.from(line);
  const start = (count: number) => `${escape(characters.slice(0, count).join('').trimEnd())}…`;
  let [fits, tooLong] = [0, characters.length];
  while (tooLong - fits > 1) {
    const middle = Math.floor((fits + tooLong) / 2);
    if (start(middle).length <= most) fits = middle;
    else tooLong = middle;
  }
  return fits === 0 ? '' : start(fits);
}

/** An underscore that can begin or end emphasis: not one inside a name such as `my_repository`. */
export const loneUnderscore = /(?<![\p{L}\p{N}_])_+|_+(?![\p{L}\p{N}_])/gu;

/** Chats read `@here` as a mention, but not with an invisible character in between. */
export const withoutMentions = (text: string): string => text.replaceAll('@', '@\u200b');

const lookAlikes: Record<string, string> = { '*': '∗', _: 'ˍ', '~': '∼', '`': 'ˋ' };
const lookAlike = (marks: string): string => Array.from(marks, (mark) => lookAlikes[mark]).join('');

/** For markup that cannot be escaped: characters that look like its marks replace them. */
export const withoutMarks = (text: string): string =>
  withoutMentions(text)
    .replace(/[*~`]/g, lookAlike)
    .replace(loneUnderscore, lookAlike)
    // A link of Markdown, which Mattermost and Rocket.Chat read in messages for Slack.
    .replaceAll('](', ']\u200b(');

/** Where `&`, `<` and `>` have to be entities. */
export const asEntities = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
