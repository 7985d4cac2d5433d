// The audit log as part of the server: it has no options yet.
import { type DefineActor, withSettings } from '../define.ts';
import { auditActor } from './audit.ts';

export const define: DefineActor = () => withSettings(auditActor, () => ({}));
