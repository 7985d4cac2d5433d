// The attributes of a write of a config map as webhooks are asked about it, without the server around it.
import { Attributes } from '../../../actors/admission/attributes.ts';
import { AuditAnnotations } from '../../../actors/admission/audit-annotations.ts';
import { KindVersions } from '../../../actors/admission/kind-version.ts';
import { Patience } from '../../../actors/admission/patience.ts';
import { NO_PLUGINS } from '../../../actors/admission/plugins/chain.ts';
import type { JsonObject } from '../../../api/json/json-value.ts';
import { createRegistry } from '../../../api/resources/registry.ts';
import { schemaOf } from '../../../api/schema/schema.ts';
import type { Dialect } from '../../../config/dialect.ts';

/** A create by `u`, but for what `asked` says. */
export function askedAttributes(
  dialect: Dialect,
  object: JsonObject,
  asked: object = {},
  old?: JsonObject,
): Attributes {
  const whole = {
    operation: 'create',
    kind: new KindVersions(schemaOf(dialect), {}).of(createRegistry(dialect).byPath('', 'v1', 'configmaps')!),
    subresource: '',
    namespace: 'default',
    name: '',
    user: { name: 'u', uid: '', groups: [], extra: {} },
    userAgent: '',
    parameters: {},
    auditAnnotations: new AuditAnnotations(),
    deletion: undefined,
    dryRun: false,
    isTracked: true,
    isPatch: false,
    plugins: NO_PLUGINS,
    view: undefined,
    reader: { patience: new Patience({ monotonicMs: () => 0 }, Number.POSITIVE_INFINITY) },
    ...asked,
  };
  const attributes = new Attributes(whole as unknown as Attributes['asked'], dialect);
  attributes.begin(0, '2026-01-01T00:00:00Z', old, object);
  return attributes;
}
