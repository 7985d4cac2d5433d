// `orch schedule explain POD`: what a scheduler with these options would say about a pod now, node by node: which plug-ins refuse it
// and why, and what each gives it where none does. Reads the cluster once, decides nothing and changes nothing.
import { profilesOf } from '../actors/scheduler/configuration/profiles.ts';
import type { NodeExplanation } from '../actors/scheduler/core/explanation.ts';
import { SchedulingCore } from '../actors/scheduler/core/scheduling-core.ts';
import { loadOwnPlugins } from '../actors/scheduler/driver/own-plugins.ts';
import { followedKeys, tellCore } from '../actors/scheduler/driver/scheduler-engine.ts';
import type { ApiServer } from '../actors/scheduler/remote/api-server.ts';
import { Informer } from '../actors/scheduler/remote/informer.ts';
import { collectionPaths, objectPath } from '../actors/scheduler/remote/resource-paths.ts';
import { DIALECTS } from '../config/dialect.ts';
import { parseArguments } from '../config/parse.ts';
import { UsageError } from '../config/usage-error.ts';
import { OrchError } from '../runtime/errors.ts';
import { createLogger } from '../runtime/logging/log.ts';
import { MetricsRegistry } from '../runtime/metrics-registry.ts';
import { realEnvironment } from '../runtime/real-environment.ts';
import { ApiUnanswered } from '../transport/outgoing/api-client.ts';
import { logSettings } from './log-settings.ts';
import { preparedScheduler } from './scheduler-server.ts';

const USAGE = 'usage: orch schedule explain [NAMESPACE/]POD [OPTIONS of orch scheduler]';

export async function schedule(argv: readonly string[]): Promise<void> {
  const [what, pod = '', ...rest] = argv;
  if (what !== 'explain' || pod === '' || pod.startsWith('-')) throw new UsageError(USAGE);
  const parsed = parseArguments('scheduler', rest);
  if (parsed.action !== 'run') throw new UsageError(USAGE);
  const { options } = parsed;
  const dialect = DIALECTS[options.apiDialect];
  const { configuration, server } = await preparedScheduler(
    options,
    dialect,
    createLogger('schedule', logSettings(options, new Date())),
    new MetricsRegistry(),
  );
  const own = await loadOwnPlugins(configuration.pluginModules);
  const profiles = profilesOf(configuration, dialect, own);
  const core = new SchedulingCore({ profiles, random: realEnvironment.random, dialect });
  const slash = pod.indexOf('/');
  const [namespace, name] = slash < 0 ? ['default', pod] : [pod.slice(0, slash), pod.slice(slash + 1)];
  try {
    const { status, object } = await server.get(objectPath('v1', 'pods', namespace, name));
    if (status !== 200) throw new OrchError('Refused', `the pod ${namespace}/${name} cannot be read (${status})`);
    await readCluster(core, server);
    const explained = core.explain(object);
    if (explained === undefined) throw new OrchError('Refused', `no profile is for the pod ${namespace}/${name}`);
    process.stdout.write(explanationText(explained));
  } catch (error) {
    throw error instanceof ApiUnanswered ? new OrchError('Refused', error.message) : error;
  }
  process.exit(0);
}

/** Resolves when the core knows all that there is. Rejects with OrchError where the server does not let it. */
async function readCluster(core: SchedulingCore, server: ApiServer): Promise<void> {
  core.beginList();
  const lists = followedKeys(core).map(
    (storageKey) =>
      new Promise<void>((resolve, reject) => {
        const informer = new Informer({
          server,
          environment: realEnvironment,
          storageKey,
          paths: collectionPaths(server.registry, storageKey),
          onNews: (news) => tellCore(core, news, 0),
          onSynced() {
            informer.stop();
            resolve();
          },
          onBatchEnd() {},
          onTrouble: (problem) => reject(new OrchError('Refused', problem)),
        });
        void informer.run();
      }),
  );
  await Promise.all(lists);
  core.endList();
}

/** A node a line: its total and what it is made of, or who refuses it. */
function explanationText(nodes: readonly NodeExplanation[]): string {
  if (nodes.length === 0) return 'there are no nodes\n';
  const width = Math.max('NODE'.length, ...nodes.map(({ node }) => node.length));
  const lines = nodes.map(({ node, refusals, scores, total }) => {
    const [shown, why] =
      refusals.length === 0
        ? [
            String(Math.round(total)),
            scores.map(({ plugin, score, weight }) => `${plugin} ${Math.round(score)}*${weight}`),
          ]
        : ['refused', refusals.map(({ plugin, reasons }) => `${plugin}: ${reasons.join(', ')}`)];
    return `${node.padEnd(width)}  ${shown.padStart('refused'.length)}  ${why.join('; ')}`.trimEnd();
  });
  return `${'NODE'.padEnd(width)}    TOTAL  WHY\n${lines.join('\n')}\n`;
}
