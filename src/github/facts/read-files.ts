import type { AttributeValues } from '../../conditions/attributes.ts';

/** A changed file, in the words of REST. A rename stands at its new path. */
export type ChangedFile = { path: string; status: string; previousPath?: string };

const configurations = ['.mergify.yml', '.mergify/config.yml', '.github/mergify.yml'];

/** Paths by how they changed. A rename removes its old path and adds its new one. A copy leaves its source alone. */
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
