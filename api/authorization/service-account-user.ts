// What service accounts are called as users, and the groups that they are in. Pure.
import type { User } from './attributes.ts';

/** The user's name. */
export function serviceAccountName(namespace: string, account: string): string {
  return `system:serviceaccount:${namespace}:${account}`;
}

/** The groups of all accounts, and of those of the namespace: without those that every user is in. */
export function serviceAccountGroups(namespace: string): readonly string[] {
  return ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
}

/** The user that a part of this server goes as, which shows no token. */
export function serviceAccountUser(namespace: string, account: string): User {
  const groups = [...serviceAccountGroups(namespace), 'system:authenticated'];
  return { name: serviceAccountName(namespace, account), uid: '', groups, extra: {} };
}
