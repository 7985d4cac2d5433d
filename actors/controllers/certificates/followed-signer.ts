// The pair that certificates are signed with, as its files have it while the server runs: clients are believed by the same files, and
// what another key signed, nobody would believe.
import type { ActorContext } from '../../../runtime/actor.ts';
import { messageOf, OrchError } from '../../../runtime/errors.ts';
import { FollowedFiles } from '../../../runtime/files/followed-files.ts';
import type { SigningAuthority } from '../options.ts';
import type { CertificateSigning } from './certificate-signing.ts';

/** Follows nothing where the pair has no files, or nobody signs. */
export function followedSigner(
  { disk, log, timers }: Pick<ActorContext, 'disk' | 'log' | 'timers'>,
  authority: SigningAuthority | undefined,
  signing: CertificateSigning | undefined,
): FollowedFiles {
  const { certFile = '', keyFile = '' } = authority?.files ?? {};
  return new FollowedFiles({
    disk,
    timers,
    paths: signing === undefined || certFile === '' ? [] : [certFile, keyFile],
    take: ([certPem = '', keyPem = '']) => {
      try {
        signing?.replaceAuthority({ certPem, keyPem });
      } catch (error) {
        const reason = messageOf(error);
        throw new OrchError('BadConfiguration', `${certFile} and ${keyFile} cannot be used: ${reason}`);
      }
    },
    onRefused: (error) => log.warn({ err: error }, 'the authority that was replaced signs no certificates'),
  });
}
