import { readFile } from 'node:fs/promises';
import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { etag } from 'hono/etag';
import { pageHeaders } from '../page-headers.ts';
import { readerZone } from '../text.ts';
import { documentPage, longestQuestion, noSuchDocument, resultsPage } from './help-page.ts';
import type { Library } from './library.ts';
import { docsFolder, overviewName } from './address.ts';

/**
 * The routes below `/help`: the documentation of the version that runs, for everybody. It is read when somebody first
 * asks for it, and kept.
 */
export function helpRoutes(): Hono {
  let reading: Promise<Library> | undefined;
  const library = () =>
    (reading ??= readFirst().catch((error: unknown) => {
      reading = undefined;
      throw error;
    }));

  const help = new Hono();
  help.use(pageHeaders(), etag(), askedAgain);
  const show = async (context: Context, name: string) => {
    const found = await library();
    const document = found.documents.get(name);
    const zone = readerZone(context);
    return document
      ? context.html(documentPage(found, document, zone))
      : context.html(noSuchDocument(found, zone), 404);
  };
  help.get('/', (context) => show(context, overviewName));
  help.get('/search', async (context) => {
    const question = (context.req.query('q') ?? '').slice(0, longestQuestion).trim();
    const found = await library();
    return context.html(resultsPage(found, question, found.search(question), readerZone(context)));
  });
  help.get('/pictures/:picture', async (context) => {
    const picture = await readPicture(context.req.param('picture'));
    if (!picture) return context.html(noSuchDocument(await library(), readerZone(context)), 404);
    context.header('Content-Type', 'image/png');
    return context.body(picture);
  });
  help.get('/:document', (context) => {
    const name = context.req.param('document');
    return name === overviewName ? context.redirect('/help', 301) : show(context, name);
  });
  return help;
}

/** What renders and searches is loaded with it: most processes are never asked. */
async function readFirst(): Promise<Library> {
  const { readLibrary } = await import('./library.ts');
  return readLibrary();
}

/** Null where there is no such picture. */
async function readPicture(name: string): Promise<Uint8Array<ArrayBuffer> | null> {
  if (!/^[\w-]+\.png$/.test(name)) return null;
  try {
    return new Uint8Array(await readFile(new URL(`pictures/${name}`, docsFolder)));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** After an upgrade the pages are new ones: browsers ask each time, and are told by an `ETag` when nothing changed. */
const askedAgain: MiddlewareHandler = async (context, next) => {
  await next();
  context.header('Cache-Control', 'no-cache');
};
