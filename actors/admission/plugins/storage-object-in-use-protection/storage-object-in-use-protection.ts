// StorageObjectInUseProtection: claims and volumes get a finalizer that keeps them while they are used. Taking it off is the work of a
// controller (actors/controllers/storage-protection.ts).
import { metadataOf } from '../../../../api/metadata/object-meta.ts';
import { protectionFinalizers } from '../../../../api/storage-protection.ts';
import type { AdmissionPluginKind } from '../plugin.ts';

export const storageObjectInUseProtection: AdmissionPluginKind = {
  name: 'StorageObjectInUseProtection',
  wants: [{ operations: ['create'], resources: ['core/persistentvolumeclaims', 'core/persistentvolumes'] }],
  create: ({ dialect }) => {
    const { ofClaims, ofVolumes } = protectionFinalizers(dialect);
    return {
      mutate: (attributes) => {
        const finalizer = attributes.type.plural === 'persistentvolumes' ? ofVolumes : ofClaims;
        const metadata = metadataOf(attributes.object);
        const { finalizers = [] } = metadata;
        if (finalizers.includes(finalizer)) return;
        attributes.object = { ...attributes.object, metadata: { ...metadata, finalizers: [...finalizers, finalizer] } };
      },
    };
  },
};
