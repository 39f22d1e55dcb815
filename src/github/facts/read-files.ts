import type { AttributeValues } from '../../conditions/attributes.ts';

/** A changed file, in REST's words. A renamed file has its new path. */
export type ChangedFile = { path: string; status: string; previousPath?: string };

const configurations = ['.mergify.yml', '.mergify/config.yml', '.github/mergify.yml'];

/** Paths by kind of change. A rename removes the old path and adds the new one. A copy does not change its source. */
export function readFiles(changed: ChangedFile[]): AttributeValues {
  const oldPaths = changed.flatMap(({ status, previousPath }) =>
    status === 'renamed' && previousPath ? [previousPath] : [],
  );
  const paths = (...statuses: string[]) =>
    changed.filter(({ status }) => statuses.includes(status)).map(({ path }) => path);
  const files = [...changed.map(({ path }) => path), ...oldPaths];
  return {
    files,
    'added-files': paths('added', 'copied', 'renamed'),
    'removed-files': [...paths('removed'), ...oldPaths],
    'modified-files': paths('modified', 'changed'),
    'mergify-configuration-changed': files.some((path) => configurations.includes(path)),
  };
}
