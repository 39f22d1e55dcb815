import type { Connection } from './database.ts';

/** Only a part of an archive is in the database. */
export class UnfinishedImport extends Error {
  /** @param file the archive, as it was named to the import. */
  constructor(file: string) {
    super(
      `The import of ${file} into this database is not finished. Run it again, and it goes on where it stopped: npx --no-install holdfast db import ${file}`,
    );
  }
}

/** @throws UnfinishedImport: without the rest, Holdfast would let go what freezes hold. */
export async function refuseUnfinishedImport(connection: Connection): Promise<void> {
  const { rows } = await connection.query('SELECT file FROM unfinished_imports');
  if (rows[0]) throw new UnfinishedImport(rows[0]['file'] as string);
}
