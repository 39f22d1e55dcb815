/** A description without its `<!-- comments -->`. A comment without an end stays. */
export function withoutComments(body: string): string {
  let text = '';
  let from = 0;
  for (;;) {
    const start = body.indexOf('<!--', from);
    const end = start < 0 ? -1 : body.indexOf('-->', start + 4);
    if (end < 0) return text + body.slice(from);
    text += body.slice(from, start);
    from = end + 3;
  }
}
