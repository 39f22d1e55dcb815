/**
 * Whether the caller has an answer already (RFC 9110, section 13.1.2).
 * @param etag of the answer; undefined: it has none.
 * @param ifNoneMatch the header of the request: tags, or `*`. Proxies that compress make weak tags of strong ones.
 */
export function isKnown(etag: string | undefined, ifNoneMatch: string | undefined): boolean {
  if (etag === undefined || ifNoneMatch === undefined) return false;
  return ifNoneMatch.split(',').some((each) => {
    const tag = each.trim().replace(/^W\//, '');
    return tag === '*' || tag === etag;
  });
}
