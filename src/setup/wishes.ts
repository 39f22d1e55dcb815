import * as z from 'zod';

/** What somebody filled in. */
export type Wishes = {
  owner: 'organization' | 'person';
  organization: string;
  name: string;
  place: 'database' | 'env';
  /** Whether people may write commands in comments: the App then asks for more. */
  takesCommands: boolean;
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
    // What a box sends that is ticked.
    comments: z.literal('on').optional(),
  })
  .refine(
    ({ owner, organization }) => owner === 'person' || /^[A-Za-z0-9-]{1,40}$/.test(organization),
    'Enter the organization’s name as in its address: letters, digits and hyphens.',
  );

/** Reads the form; what cannot be used comes with the first problem and as much of the input as there is. */
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
