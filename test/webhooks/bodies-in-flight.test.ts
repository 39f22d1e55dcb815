import { describe, expect, test } from 'vitest';
import { type SenderShare, BodiesInFlight } from '../../src/webhooks/bodies-in-flight.ts';

const kibibyte = 1024;
const mebibyte = 1024 * kibibyte;
const stranger = (network: number) => ({ network: `192.0.2.${network}`, isGitHub: false });
const github = { network: '140.82.112.1', isGitHub: true };

/** Whether the bytes fit. */
function takes(share: SenderShare, bytes: number): boolean {
  try {
    share.claim(bytes);
    return true;
  } catch (error) {
    expect((error as Error).message).toContain('Too many webhooks arrive at once');
    return false;
  }
}

describe('the bodies of webhooks in flight', () => {
  test('one network has an eighth, no matter how many bodies it sends', () => {
    const bodies = new BodiesInFlight();
    expect(takes(bodies.open(stranger(1)), 5 * mebibyte)).toBe(true);
    const second = bodies.open(stranger(1));
    expect(takes(second, 3 * mebibyte)).toBe(true);
    expect(takes(second, 1)).toBe(false);
    expect(takes(bodies.open(stranger(2)), 8 * mebibyte)).toBe(true);
  });

  test('strangers leave a share for GitHub, which GitHub can use up with large bodies alone', () => {
    const bodies = new BodiesInFlight();
    const strangers = Array.from({ length: 6 }, (_, index) => bodies.open(stranger(index)));
    for (const share of strangers) expect(takes(share, 8 * mebibyte)).toBe(true);
    expect(takes(bodies.open(stranger(7)), 1)).toBe(false);
    expect(takes(bodies.open(github), mebibyte)).toBe(false);
    const small = bodies.open(github);
    expect(takes(small, 256 * kibibyte)).toBe(true);
    expect(takes(small, 1)).toBe(false);
    strangers[0]!.release();
    expect(takes(bodies.open(github), 8 * mebibyte)).toBe(true);
  });

  test('a share for small bodies is left by large ones', () => {
    const bodies = new BodiesInFlight();
    const large = [25, 23].map((size) => [bodies.open(github), size * mebibyte] as const);
    for (const [share, bytes] of large) expect(takes(share, bytes)).toBe(true);
    expect(takes(bodies.open(github), 257 * kibibyte)).toBe(false);
    for (let count = 0; count < 64; count++) expect(takes(bodies.open(github), 256 * kibibyte)).toBe(true);
    expect(bodies.bytes).toBe(64 * mebibyte);
    expect(takes(bodies.open(github), 1)).toBe(false);
  });

  test('a small body that grows counts as large with all that it has', () => {
    const bodies = new BodiesInFlight();
    const growing = bodies.open(github);
    expect(takes(growing, 200 * kibibyte)).toBe(true);
    expect(takes(growing, 200 * kibibyte)).toBe(true);
    expect(takes(bodies.open(github), 48 * mebibyte - 400 * kibibyte)).toBe(true);
    expect(takes(bodies.open(github), 257 * kibibyte)).toBe(false);
    growing.release();
    expect(takes(bodies.open(github), 400 * kibibyte)).toBe(true);
  });

  test('what is given back counts no more, also twice, and takes nothing afterwards', () => {
    const bodies = new BodiesInFlight();
    const share = bodies.open(stranger(1));
    share.claim(8 * mebibyte);
    share.release();
    share.release();
    expect(bodies.bytes).toBe(0);
    expect(takes(share, 1)).toBe(false);
    expect(takes(bodies.open(stranger(1)), 8 * mebibyte)).toBe(true);
  });
});
