import { notFound } from '../errors.ts';
import { type FoundRepository, fullName } from '../repositories/find-repository.ts';

/** The answer for a freeze that was never there, is deleted, or has ended. */
export const freezeAbsent = (repository: FoundRepository, id: string) =>
  notFound(
    `${fullName(repository)} has no scheduled or ongoing freeze ${id}. It may have ended or been deleted.`,
  );
