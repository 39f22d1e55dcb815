import { createPrivateKey } from 'node:crypto';

/**
 * Reads a private key as people paste it: PEM as it is, in quotes, indented, with `\n` or blanks in the place of line
 * breaks, or as base64 of the PEM.
 * @returns the key as PEM; otherwise what the text looks like, as the end of a sentence. No part of the key is in it.
 */
export function readPrivateKey(text: string): { pem: string } | { looksLike: string } {
  const given = plain(text);
  const pem = isPem(given) ? given : plain(Buffer.from(given.replace(/\s/g, ''), 'base64').toString());
  const rebuilt = rebuild(pem);
  if (rebuilt !== null && isKey(rebuilt)) return { pem: rebuilt };
  return { looksLike: looksLike(isPem(pem) ? pem : given) };
}

const isPem = (text: string): boolean => text.includes('-----BEGIN');

/** Without what a shell, an env file or an editor put around it. */
const plain = (text: string): string =>
  text
    .replace(/^\ufeff/, '')
    .trim()
    .replace(/^(["'])([^]*)\1$/, '$2')
    .replace(/(?:\\r)?\\n|\\r|\r\n?/g, '\n')
    .trim();

/** The PEM with its lines as they should be. */
function rebuild(pem: string): string | null {
  const [, kind, body] = /-----BEGIN ([A-Z ]*PRIVATE KEY)-----([^]*?)-----END \1-----/.exec(pem) ?? [];
  const lines = body?.replace(/\s/g, '').match(/.{1,64}/g);
  return lines ? `-----BEGIN ${kind}-----\n${lines.join('\n')}\n-----END ${kind}-----\n` : null;
}

function isKey(pem: string): boolean {
  try {
    return createPrivateKey(pem).type === 'private';
  } catch {
    return false;
  }
}

const looks: [RegExp, string][] = [
  [
    /-----BEGIN (?:RSA )?PUBLIC KEY-----/,
    'is a public key. Use the private one, which GitHub lets you download once',
  ],
  [/-----BEGIN CERTIFICATE-----/, 'is a certificate. Use the private key from the App’s settings page'],
  [/-----BEGIN OPENSSH /, 'is a key for SSH. Use the private key from the App’s settings page'],
  [
    /-----BEGIN ENCRYPTED |ENCRYPTED/,
    'is protected by a passphrase. Keys of GitHub have none: use the file as GitHub made it',
  ],
  [
    /-----BEGIN [A-Z ]+-----(?![^]*-----END )/,
    'begins a key, but its end is missing. Send all lines, with \\n between them',
  ],
  [/-----BEGIN /, 'has the frame of a key, but not all of its lines. Copy the whole file again'],
  [/^SHA256:/, 'is the fingerprint of a key. Use the key itself, the .pem file that GitHub made'],
  [/^(?:[./~]|[a-z]:\\)|\.pem$/i, 'looks like a path: name files in PRIVATE_KEY_FILE'],
];

const looksLike = (text: string): string =>
  looks.find(([shape]) => shape.test(text))?.[1] ??
  'does not hold a private key in PEM form, nor as base64 of it: use the whole file, from -----BEGIN to -----END';
