import { createHash } from 'node:crypto';

/** Of a commit: its hash, and when it was made (ISO 8601, in any zone). */
export type Commit = { commit: string; committed: string };

/**
 * A CycloneDX document as npm makes it, with a serial number and a time of the commit in the place of random ones and
 * of now.
 * @returns JSON with a line break at its end.
 */
export function reproducibleSbom(text: string, { commit, committed }: Commit): string {
  const sbom = JSON.parse(text) as { serialNumber: string; metadata: { timestamp: string } };
  sbom.serialNumber = `urn:uuid:${uuidOf(commit)}`;
  sbom.metadata.timestamp = new Date(committed).toISOString();
  return `${JSON.stringify(sbom, null, 2)}\n`;
}

/** A UUID made from a text, of version 8 (RFC 9562): the bits are of our own making. */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  const variant = ((parseInt(hex[16]!, 16) & 0x3) | 0x8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    variant + hex.slice(17, 20),
    hex.slice(20, 32),
  ].join('-');
}
