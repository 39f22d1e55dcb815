import { readFileSync } from 'node:fs';

type Environment = Partial<Record<string, string>>;

/** The variables that name a file with a secret, and the variable whose value the file holds. */
export const secretFiles = {
  DATABASE_URL_FILE: 'DATABASE_URL',
  SECRET_KEY_FILE: 'SECRET_KEY',
  SECRET_KEY_PREVIOUS_FILE: 'SECRET_KEY_PREVIOUS',
  PRIVATE_KEY_FILE: 'PRIVATE_KEY',
  PRIVATE_KEY_PATH: 'PRIVATE_KEY',
  LOCK_PRIVATE_KEY_FILE: 'LOCK_PRIVATE_KEY',
  LOCK_PRIVATE_KEY_PATH: 'LOCK_PRIVATE_KEY',
  WEBHOOK_SECRET_FILE: 'WEBHOOK_SECRET',
  CLIENT_SECRET_FILE: 'CLIENT_SECRET',
  METRICS_TOKEN_FILE: 'METRICS_TOKEN',
  SLACK_BOT_TOKEN_FILE: 'SLACK_BOT_TOKEN',
  SLACK_SIGNING_SECRET_FILE: 'SLACK_SIGNING_SECRET',
  SLACK_APP_TOKEN_FILE: 'SLACK_APP_TOKEN',
} as const;

type WithSecrets = {
  /** The environment, with the secrets from files under their own names. */
  given: Environment;
  /** One line for each file that cannot be used; no secret appears in it. */
  problems: string[];
  /** Variables without a value because their file cannot be used. */
  unread: Set<string>;
};

/**
 * Reads secrets from files, as container engines, Kubernetes and systemd provide them. One newline at the end of a file
 * is not part of the secret.
 * @param environment without empty variables.
 */
export function readSecretFiles(environment: Environment): WithSecrets {
  const given = { ...environment };
  const problems: string[] = [];
  const unread = new Set<string>();
  const from: Environment = {};
  for (const [fileVariable, variable] of Object.entries(secretFiles)) {
    const path = environment[fileVariable];
    if (!path) continue;
    const other = environment[variable] ? variable : from[variable];
    from[variable] = fileVariable;
    try {
      if (other) throw new Unusable(`${fileVariable} and ${other} are both set: remove one of them`);
      given[variable] = readSecret(fileVariable, path);
    } catch (error) {
      if (!(error instanceof Unusable)) throw error;
      problems.push(error.message);
      unread.add(variable);
    }
  }
  return { given, problems, unread };
}

/** The variable that gave a secret its value: use its name in messages. */
export const sourceOf = (variable: string, environment: Environment): string =>
  Object.entries(secretFiles).find(([name, of]) => of === variable && environment[name])?.[0] ?? variable;

class Unusable extends Error {}

function readSecret(fileVariable: string, path: string): string {
  const text = readText(fileVariable, path).replace(/\r?\n$/, '');
  if (!text.trim()) throw new Unusable(`${fileVariable}: ${path} is empty`);
  return text;
}

function readText(fileVariable: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Unusable(
      code === 'ENOENT'
        ? `${fileVariable}: there is no file ${path}`
        : `${fileVariable}: ${path} cannot be read (${code})`,
    );
  }
}
