// What tests of the plugins' places in the write path share: objects that are written, and a plugin that writes down what it is
// told of.
import type { Attributes } from '../../../actors/admission/attributes.ts';
import type { AdmissionPluginKind } from '../../../actors/admission/plugins/plugin.ts';

export const PODS = '/api/v1/namespaces/default/pods';
export const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
export const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

/** A pod. */
export const pod = (name: string) => ({ metadata: { name }, spec: { containers: [{ name: 'c', image: 'i' }] } });

/** A deployment of such pods. */
export const deployment = (name: string) => ({
  metadata: { name },
  spec: {
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: pod(name).spec },
  },
});

/** A plugin that writes down what it is told of. */
export function recorder(told: string[], mutate?: (attributes: Attributes) => void): AdmissionPluginKind {
  const note = (phase: string, { asked, old, object, type, subresource }: Attributes): void => {
    const { operation, namespace, name, user, dryRun } = asked;
    const path = [type.plural, subresource].filter((part) => part !== '').join('/');
    const kinds = [old?.kind ?? '-', object.kind ?? '-'].join('>');
    told.push([phase, operation, path, namespace, name, user.name, kinds, ...(dryRun ? ['dry'] : [])].join(' '));
  };
  return {
    name: 'AlwaysAdmit',
    wants: [{ operations: ['create', 'update', 'delete', 'connect'], resources: ['**'] }],
    create: () => ({
      mutate: (attributes) => {
        note('mutate', attributes);
        mutate?.(attributes);
      },
      validate: (attributes) => note('validate', attributes),
    }),
  };
}
