// DefaultBinder: pods are bound in batches, each of which is one message to whoever writes them.
import type { BindPlugin } from '../framework/framework.ts';

export const defaultBinder: BindPlugin = { name: 'DefaultBinder', bind: () => 'default' };
