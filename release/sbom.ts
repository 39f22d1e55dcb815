import { createHash } from 'node:crypto';

/** The name of the package, and the hash and the time of the commit (ISO 8601, in any zone). */
export type Origin = { name: string; commit: string; committed: string };

/**
 * A CycloneDX document from npm. Values from the commit replace the random serial number, the current time, and the
 * name of the folder.
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

/** A UUID of version 8 (RFC 9562) made from a text: we choose the bits. */
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
