import { within } from '../../clock.ts';
import { Answers } from '../../github/cache.ts';
import type { Deps } from '../../deps.ts';
import { type Figures, readFigures } from './read-figures.ts';

/** Milliseconds for which all scrapes share an answer. */
const goodFor = 10_000;
/** Milliseconds that the database has to answer: Prometheus gives a scrape 10 s. */
const patience = 3000;

/**
 * Gives the figures to any number of scrapes. They share one question to the database, which is asked at most once in
 * 10 s, and never while the last one is under way.
 * @returns null where the database did not answer, or not in time.
 */
export function shareFigures(deps: Pick<Deps, 'sql' | 'clock' | 'log'>): () => Promise<Figures | null> {
  const answers = new Answers<Figures | null>(deps.clock, 1, () => goodFor);
  const ask = () =>
    readFigures(deps).catch((error: unknown) => {
      deps.log.warn({ err: error }, 'the figures for a scrape of metrics could not be read');
      return null;
    });
  return () => within(patience, answers.get('figures', ask));
}
