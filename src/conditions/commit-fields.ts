/** The fields of `commits[i].<field>`. */
export const commitFields = {
  author: 'text',
  committer: 'text',
  commit_message: 'text',
  email_author: 'text',
  email_committer: 'text',
  commit_verification_verified: 'boolean',
  date_author: 'timestamp',
  date_committer: 'timestamp',
} as const;

export type CommitField = keyof typeof commitFields;

/** One commit of a pull request, with git's names and addresses. Instants are in milliseconds since the epoch. */
export type CommitFacts = {
  [Field in CommitField]: (typeof commitFields)[Field] extends 'boolean'
    ? boolean
    : (typeof commitFields)[Field] extends 'timestamp'
      ? number | null
      : string | null;
};
