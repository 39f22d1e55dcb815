import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cutCharacters, cutText } from '../src/cut-text.ts';

test.each([
  ['short', 5, 'short'],
  ['longer', 5, 'long…'],
  ['😀😀😀', 6, '😀😀😀'],
  ['😀😀😀', 5, '😀😀…'],
  ['😀😀😀', 4, '😀…'],
  ['ab👩‍💻', 6, 'ab…'],
  ['👩‍👩‍👧‍👦', 4, '👩‍…'],
  ['👩‍👩‍👧‍👦', 2, '…'],
])('%s fits into %i units as %s', (text, most, cut) => expect(cutText(text, most)).toBe(cut));

test.each([
  ['short', 5, 'short'],
  ['longer', 5, 'long…'],
  ['😀😀😀', 3, '😀😀😀'],
  ['😀😀😀', 2, '😀…'],
  ['ab👩‍💻', 5, 'ab👩‍💻'],
  ['ab👩‍💻', 4, 'ab…'],
  ['é'.normalize('NFD').repeat(3), 4, `${'é'.normalize('NFD')}…`],
  // One character of what people see, longer than all that fits.
  ['👩‍👩‍👧‍👦', 3, '👩‍…'],
  ['a\u0301\u0301\u0301\u0301', 3, 'a\u0301…'],
])('%s fits into %i as %s', (text, most, cut) => expect(cutCharacters(text, most)).toBe(cut));

test('a text that is cut is a beginning of it, as valid as it is, and fits', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: 'grapheme', minLength: 3 }),
    fc.array(fc.constantFrom('😀', '👩‍💻', '\u0301', '\u200d', 'a', '\r\n', '🇫🇷')).map((all) => all.join('')),
  );
  fc.assert(
    fc.property(text, fc.integer({ min: 2, max: 20 }), (text, most) => {
      const cuts = [cutText(text, most), cutCharacters(text, most)] as const;
      expect(cuts[0].length).toBeLessThanOrEqual(most);
      expect(Array.from(cuts[1]).length).toBeLessThanOrEqual(most);
      for (const cut of cuts) {
        expect(cut.isWellFormed() || !text.isWellFormed()).toBe(true);
        expect(cut === text || (cut.endsWith('…') && text.startsWith(cut.slice(0, -1)))).toBe(true);
      }
    }),
  );
});
