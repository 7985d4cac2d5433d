// NamespaceExists: nothing is written in a namespace that is not there. What NamespaceLifecycle does for new objects, for all writes.
import { notFound } from '../../../../api/status/failures.ts';
import { StatusError } from '../../../../api/status/status.ts';
import type { AdmissionPluginKind } from '../plugin.ts';

export const namespaceExists: AdmissionPluginKind = {
  name: 'NamespaceExists',
  wants: [{ operations: ['create', 'update', 'delete'], resources: ['**'] }],
  create: ({ cluster }) => {
    const namespaces = cluster.follow('v1/namespaces', () => true);
    return {
      validate: ({ type, asked: { namespace } }) => {
        if (type.namespaced && namespace !== '' && namespaces.get('', namespace) === undefined)
          throw new StatusError(notFound({ group: '', plural: 'namespaces' }, namespace));
      },
    };
  },
};
