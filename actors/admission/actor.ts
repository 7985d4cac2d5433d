// Admission as part of the server: its options, out of the server's settings.
import { DIALECTS } from '../../config/dialect.ts';
import { parseFeatureGates } from '../../config/feature-gates.ts';
import type { ActorContext } from '../../runtime/actor.ts';
import { heapLimitBytes } from '../../runtime/memory/heap-limit.ts';
import { NOTHING_SHOWN } from '../../transport/outgoing/connection-file.ts';
import { type MakeWebhookClient, ServiceClient } from '../../transport/outgoing/service-client.ts';
import { componentRecordingOf } from '../auditing/component-audit.ts';
import { type DefineActor, withSettings } from '../define.ts';
import type { ServerSettings } from '../server-settings.ts';
import { threadRegistry } from '../thread-registry.ts';
import { type AdmissionOptions, admissionActor } from './admission.ts';
import { runningPlugins } from './plugins/plugins.ts';

/** Of the heap of its thread, for writes of what is large: the last steps of one, which is what is at work, take as much again. */
const HEAP_SHARE = 0.4;

export const define: DefineActor = ({ checks, webhookClient = (parts) => new ServiceClient(parts) }) =>
  withSettings(admissionActor, (settings, context) => ({
    ...admissionOptions(settings, context, webhookClient),
    checks: checks?.(context),
  }));

function admissionOptions(
  settings: ServerSettings,
  context: ActorContext,
  webhookClient: MakeWebhookClient,
): Omit<AdmissionOptions, 'checks'> {
  const { options } = settings;
  const gates = parseFeatureGates(options.featureGates, DIALECTS[settings.dialect]);
  return {
    registry: threadRegistry(context, settings),
    requestTimeoutMs: options.requestTimeoutMs,
    serverSideApply: gates.enabled('ServerSideApply'),
    deletion: {
      collectsGarbage: options.enableGarbageCollector,
      collectionWorkers: options.deleteCollectionWorkers,
    },
    heapRoomBytes: heapLimitBytes() * HEAP_SHARE,
    plugins: runningPlugins(options.enableAdmissionPlugins, options.disableAdmissionPlugins),
    pluginConfigurations: settings.admissionPlugins ?? {},
    pluginOptions: {
      gate: (name) => gates.enabled(name),
      notReadySeconds: options.defaultNotReadyTolerationSeconds,
      unreachableSeconds: options.defaultUnreachableTolerationSeconds,
      callsEndpoints: options.enableAggregatorRouting,
      shownToServices: settings.shownToServices ?? NOTHING_SHOWN,
      ownService: settings.ownService,
      webhookClient,
      egress: settings.egress,
      commitsEach: options.storeLayout !== 'own',
    },
    network: { clusterIpRanges: options.serviceClusterIpRange, nodePorts: options.serviceNodePortRange },
    validation: { allowPrivileged: options.allowPrivileged, gate: (name) => gates.enabled(name) },
    featureGates: options.featureGates,
    recording: componentRecordingOf(settings),
  };
}
