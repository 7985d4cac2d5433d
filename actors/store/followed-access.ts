// How etcd is reached while the server runs: by the certificates that the operator's files hold by then.
import type { ActorContext } from '../../runtime/actor.ts';
import { FollowedFiles } from '../../runtime/files/followed-files.ts';
import type { EtcdAccess } from '../../storage/etcd/etcd-access.ts';
import { bundleOf, pairOf } from '../../transport/tls/material-files.ts';

/** `access`, in which what its files hold takes the place of what they held: connections made from then on go by it. */
export function followedAccess(
  access: EtcdAccess,
  { disk, timers, log }: Pick<ActorContext, 'disk' | 'timers' | 'log'>,
): EtcdAccess {
  const followed = { ...access };
  const { caFile, pairFiles = [] } = access;
  const files = new FollowedFiles({
    disk,
    timers,
    paths: caFile === undefined ? pairFiles : [...pairFiles, caFile],
    take(texts) {
      const ca = caFile === undefined ? {} : { ca: bundleOf(caFile, texts[pairFiles.length]!) };
      const [certificate = '', key = ''] = texts;
      const [certFile, keyFile] = pairFiles;
      if (certFile !== undefined && keyFile !== undefined) pairOf({ certFile, keyFile }, certificate, key);
      // At once: no connection may meet a certificate with the key of another.
      Object.assign(followed, ca, pairFiles.length === 0 ? {} : { certificate, key });
    },
    onRefused: (error) => log.warn({ err: error }, 'the certificates for etcd that were replaced are not used'),
  });
  void files.start();
  return followed;
}
