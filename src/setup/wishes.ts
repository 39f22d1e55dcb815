import * as z from 'zod';

/** What somebody filled in. */
export type Wishes = {
  owner: 'organization' | 'person';
  organization: string;
  name: string;
  place: 'database' | 'env';
};

const nameLength = 34;

const schema = z
  .object({
    owner: z.enum(['organization', 'person'], 'Choose who shall own the App.'),
    organization: z.string().trim().default(''),
    name: z
      .string('Give the App a name.')
      .trim()
      .min(1, 'Give the App a name.')
      .max(nameLength, `GitHub takes names of at most ${nameLength} characters.`),
    place: z.enum(['database', 'env']).default('database'),
  })
  .refine(
    ({ owner, organization }) => owner === 'person' || /^[A-Za-z0-9-]{1,40}$/.test(organization),
    'Enter the organization’s name as in its address: letters, digits and hyphens.',
  );

/** Reads the form; what cannot be used comes with the first problem and as much of the input as there is. */
export function readWishes(form: URLSearchParams): { wishes: Wishes; problem: string | null } {
  const parsed = schema.safeParse(Object.fromEntries(form));
  if (parsed.success) return { wishes: parsed.data, problem: null };
  const wishes: Wishes = {
    owner: form.get('owner') === 'person' ? 'person' : 'organization',
    organization: form.get('organization') ?? '',
    name: form.get('name') ?? '',
    place: form.get('place') === 'env' ? 'env' : 'database',
  };
  return { wishes, problem: parsed.error.issues[0]!.message };
}
