import type { Config } from '../../config.ts';

/** The settings that signing in needs. */
export type SignInSettings = {
  clientId: string;
  clientSecret: string;
  secretKey: string;
  callbackUrl: string;
};

export const callbackPath = '/auth/callback';

/** @returns null if the operator has not set up signing in. */
export function signInSettings({ app, secretKey, publicUrl }: Config): SignInSettings | null {
  if (!app.oauth || !secretKey) return null;
  return { ...app.oauth, secretKey, callbackUrl: publicUrl + callbackPath };
}

/** The variables that are still missing for it, as a list in words. */
export function missingForSignIn({ app, secretKey }: Config): string {
  const missing = [
    ...(app.oauth ? [] : ['CLIENT_ID', 'CLIENT_SECRET']),
    ...(secretKey ? [] : ['SECRET_KEY']),
  ];
  return missing.length < 2 ? missing.join('') : `${missing.slice(0, -1).join(', ')} and ${missing.at(-1)}`;
}
