// For every test file: names that RFC 2606 reserves resolve to nothing at once. A resolver is not asked, because that
// takes seconds on some networks.
import dns, { type LookupOptions } from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';

type Callback = (error: NodeJS.ErrnoException, ...found: never[]) => void;

const reserved = /\.(?:example|invalid|test)\.?$/;
const mark = Symbol.for('holdfast: reserved names');
const { lookup } = dns;

// A worker runs this for each file, and keeps Node's own modules in between.
if (!(mark in lookup)) {
  const ours = (name: string, options: LookupOptions | Callback, callback?: Callback): void => {
    const done = (callback ?? options) as Callback;
    if (!reserved.test(name))
      Reflect.apply(lookup, dns, [name, options, callback].slice(0, callback ? 3 : 2));
    else
      queueMicrotask(() =>
        done(
          Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND', hostname: name }),
        ),
      );
  };
  dns.lookup = Object.assign(ours, { [mark]: true }) as unknown as typeof lookup;
  syncBuiltinESMExports();
}
