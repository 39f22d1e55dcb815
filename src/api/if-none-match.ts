/**
 * Whether the caller already has the answer (RFC 9110, section 13.1.2).
 * @param etag of the answer; undefined if it has none.
 * @param ifNoneMatch the request header: tags, or `*`. Proxies that compress turn strong tags into weak ones.
 */
export function isKnown(etag: string | undefined, ifNoneMatch: string | undefined): boolean {
  if (etag === undefined || ifNoneMatch === undefined) return false;
  return ifNoneMatch.split(',').some((each) => {
    const tag = each.trim().replace(/^W\//, '');
    return tag === '*' || tag === etag;
  });
}
