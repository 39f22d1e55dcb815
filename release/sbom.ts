import { createHash } from 'node:crypto';

/** The name of the package, and of the commit its hash and when it was made (ISO 8601, in any zone). */
export type Origin = { name: string; commit: string; committed: string };

/**
 * A CycloneDX document as npm makes it, with what the commit gives in the place of a random serial number, the time of
 * now, and the name of the folder.
 * @returns JSON with a line break at its end.
 */
export function reproducibleSbom(text: string, { name, commit, committed }: Origin): string {
  const sbom = JSON.parse(text) as {
    serialNumber: string;
    metadata: { timestamp: string; component: { name: string } };
  };
  sbom.serialNumber = `urn:uuid:${uuidOf(commit)}`;
  sbom.metadata.timestamp = new Date(committed).toISOString();
  sbom.metadata.component.name = name;
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
