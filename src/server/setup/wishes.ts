import * as z from 'zod';

/** What a person filled in. */
export type Wishes = {
  owner: 'organization' | 'person';
  organization: string;
  name: string;
  place: 'database' | 'env';
  /** Whether people can use commands in comments. The App then requests more permissions. */
  takesCommands: boolean;
};

const nameLength = 34;

const schema = z
  .object({
    owner: z.enum(['organization', 'person'], 'Choose who owns the GitHub App.'),
    organization: z.string().trim().default(''),
    name: z
      .string('Give the App a name.')
      .trim()
      .min(1, 'Give the App a name.')
      .max(nameLength, `A GitHub App name can have at most ${nameLength} characters.`),
    place: z.enum(['database', 'env']).default('database'),
    // The value of a selected checkbox.
    comments: z.literal('on').optional(),
  })
  .refine(
    ({ owner, organization }) => owner === 'person' || /^[A-Za-z0-9-]{1,40}$/.test(organization),
    'Enter the organization name from its URL. It has letters, digits and hyphens.',
  );

/** Reads the form. If it is invalid, returns the first problem and the input. */
export function readWishes(form: URLSearchParams): { wishes: Wishes; problem: string | null } {
  const parsed = schema.safeParse(Object.fromEntries(form));
  if (parsed.success) {
    const { comments, ...wishes } = parsed.data;
    return { wishes: { ...wishes, takesCommands: comments === 'on' }, problem: null };
  }
  const wishes: Wishes = {
    owner: form.get('owner') === 'person' ? 'person' : 'organization',
    organization: form.get('organization') ?? '',
    name: form.get('name') ?? '',
    place: form.get('place') === 'env' ? 'env' : 'database',
    takesCommands: form.get('comments') === 'on',
  };
  return { wishes, problem: parsed.error.issues[0]!.message };
}
