// What the operations of all resource types share, and how groups are named in them.
import type { Dialect } from '../../config/dialect.ts';
import type { Schema } from '../schema/schema.ts';
import type { Definitions } from './definitions.ts';
import type { VerbParameters } from './parameters.ts';
import { verbParameters } from './parameters.ts';
import type { SwaggerSchema } from './swagger.ts';

/** What operations of all types share. */
export interface OperationContext {
  readonly dialect: Dialect;
  readonly schema: Schema;
  readonly definitions: Definitions;
  readonly parameters: VerbParameters;
  /** The schema of objects of a kind, built-in or custom. */
  objectSchema(group: string, version: string, kind: string): SwaggerSchema;
  isOn(gate: string): boolean;
}

export function operationContext(base: Omit<OperationContext, 'parameters'>): OperationContext {
  return { ...base, parameters: verbParameters(base.schema) };
}

export const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** `rbac.authorization.<domain>` → `RbacAuthorization`; the core group → `Core`. */
export function groupName(group: string, { groupDomain }: Dialect): string {
  if (group === '') return 'Core';
  const own = group.endsWith(`.${groupDomain}`) ? group.slice(0, -groupDomain.length - 1) : group;
  return own.split('.').map(capitalized).join('');
}
