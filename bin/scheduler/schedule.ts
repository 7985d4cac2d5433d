// `orch schedule explain POD` and `orch schedule simulate -f FILE`: what a scheduler with these options would say about a pod now, node
// by node: which plug-ins refuse it and why, and what each gives it where none does. Reads the cluster once, decides nothing and
// changes nothing: the pod of a file goes through the server's admission in a dry run, which gives it its defaults.
import { readFileSync } from 'node:fs';
import { profilesOf } from '../../actors/scheduler/configuration/profiles.ts';
import { SchedulingCore } from '../../actors/scheduler/core/scheduling-core.ts';
import { loadOwnPlugins } from '../../actors/scheduler/driver/own-plugins.ts';
import { followedKeys, tellCore } from '../../actors/scheduler/driver/scheduler-engine.ts';
import { WhatIfs } from '../../actors/scheduler/driver/what-if.ts';
import { Extenders } from '../../actors/scheduler/extenders/extenders.ts';
import type { ApiServer } from '../../actors/scheduler/remote/api-server.ts';
import { Informer } from '../../actors/scheduler/remote/informer.ts';
import { collectionPaths, objectPath } from '../../actors/scheduler/remote/resource-paths.ts';
import type { JsonObject } from '../../api/json/json-value.ts';
import { asText } from '../../api/json/object-fields.ts';
import { simulatedPod } from '../../api/pods/simulated-pod.ts';
import { DIALECTS } from '../../config/dialect.ts';
import { parseArguments } from '../../config/parse.ts';
import { UsageError } from '../../config/usage-error.ts';
import { OrchError } from '../../runtime/errors.ts';
import { readWholeText } from '../../runtime/files/whole-file.ts';
import { createLogger } from '../../runtime/logging/log.ts';
import { MetricsRegistry } from '../../runtime/metrics/metrics-registry.ts';
import { realEnvironment } from '../../runtime/real-environment.ts';
import { ApiUnanswered } from '../../transport/outgoing/api-client.ts';
import { parseYaml } from '../../transport/yaml/read.ts';
import { keptAlive } from '../command-line/kept-alive.ts';
import { warn } from '../command-line/print-lines.ts';
import { takeFlag } from '../command-line/taken-flag.ts';
import { logSettings } from '../log-settings.ts';
import { REPLAY_USAGE, replay } from './schedule-replay.ts';
import { explanationText } from './schedule-text.ts';
import { preparedScheduler } from './scheduler-server.ts';

const USAGES = new Map([
  ['explain', 'orch schedule explain [NAMESPACE/]POD [-o json] [OPTIONS of orch scheduler]'],
  ['simulate', 'orch schedule simulate [-f] FILE [-o json] [OPTIONS of orch scheduler]'],
  ['replay', REPLAY_USAGE],
]);
const DEPTH_MAX = 32;

/** Reads the pod in question from the server, or lets it make one of a file. Rejects with OrchError. */
type FindPod = (server: ApiServer) => Promise<JsonObject>;

/** What a command takes; where there is no such command, what each of them takes. */
function usageOf(what: string | undefined): UsageError {
  const usage = USAGES.get(what ?? '') ?? [...USAGES.values()].join(', or\n       ');
  return new UsageError(`usage: ${usage}`);
}

/** The pod that the arguments ask about, and what is left of them. Throws UsageError. */
function questionOf([what, ...argv]: readonly string[]): { readonly find: FindPod; readonly rest: readonly string[] } {
  if (what === 'explain') {
    const [pod = '', ...rest] = argv;
    if (pod !== '' && !pod.startsWith('-')) return { find: (server) => podOf(server, pod), rest };
  }
  if (what === 'simulate') {
    const [flag = '', file, ...rest] = argv;
    const isFile = flag === '-' || (flag !== '' && !flag.startsWith('-'));
    if (isFile) return { find: (server) => podMadeOf(server, flag), rest: argv.slice(1) };
    const [, name, joined] = /^(-f|--filename)(?:=(.*))?$/s.exec(flag) ?? [];
    if (name !== undefined) {
      const path = joined ?? file;
      const others = joined === undefined || file === undefined ? rest : [file, ...rest];
      if (path !== undefined) return { find: (server) => podMadeOf(server, path), rest: others };
    }
  }
  throw usageOf(what);
}

/** `-o json` anywhere: the answer as a server gives it. Throws UsageError. */
function formIn(argv: readonly string[]): { readonly isJson: boolean; readonly others: readonly string[] } {
  const { value, rest } = takeFlag(argv, '-o', '-o takes json');
  if (value !== undefined && value !== 'json') throw new UsageError('-o takes json');
  return { isJson: value === 'json', others: rest };
}

async function podOf(server: ApiServer, pod: string): Promise<JsonObject> {
  const slash = pod.indexOf('/');
  const [namespace = '', name = ''] = slash < 0 ? ['default', pod] : [pod.slice(0, slash), pod.slice(slash + 1)];
  // The path without a name is that of all pods.
  if (namespace === '' || name === '') throw usageOf('explain');
  const { status, object } = await server.get(objectPath('v1', 'pods', namespace, name));
  if (status !== 200) throw new OrchError('Refused', `the pod ${namespace}/${name} cannot be read (${status})`);
  return object;
}

/** As the server would make it, which it does not. */
async function podMadeOf(server: ApiServer, path: string): Promise<JsonObject> {
  const asked = simulatedPod(readManifest(path));
  if (asked === undefined) throw new OrchError('BadConfiguration', `${path}: the kind must be Pod`);
  const { status, object } = await server.create(
    `${objectPath('v1', 'pods', asked.namespace)}?dryRun=All`,
    asked.manifest,
  );
  if (status !== 201) throw new OrchError('Refused', `the server would not make the pod: ${asText(object.message)}`);
  return object;
}

/** Throws OrchError BadConfiguration. */
function readManifest(path: string): unknown {
  try {
    const text = path === '-' ? readFileSync(0, 'utf8') : readWholeText(path);
    return text.trimStart().startsWith('{') ? JSON.parse(text) : parseYaml(text, DEPTH_MAX);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new OrchError('BadConfiguration', `${path} cannot be read: ${code ?? message.split('\n', 1)[0]}`);
  }
}

/** Prints the answer, and ends the process. */
export async function schedule(argv: readonly string[]): Promise<void> {
  const [what, ...ofReplay] = argv;
  if (what === 'replay') process.exit(await replay(ofReplay));
  const { isJson, others } = formIn(argv);
  const { find, rest } = questionOf(others);
  const parsed = parseArguments('scheduler', rest);
  if (parsed.action !== 'run') throw usageOf(what);
  const { options } = parsed;
  const dialect = DIALECTS[options.apiDialect];
  const log = createLogger('schedule', logSettings(options, new Date()));
  const { configuration, server } = await preparedScheduler(options, dialect, log, new MetricsRegistry());
  const own = await loadOwnPlugins(configuration.pluginModules);
  const profiles = profilesOf(configuration, dialect, own);
  const extenders = new Extenders(configuration.extenders, { ...realEnvironment, log });
  const core = new SchedulingCore({ profiles, random: realEnvironment.random, dialect, outsiders: extenders });
  try {
    const pod = await find(server);
    await keptAlive(() => readCluster(core, server));
    const answer = await new WhatIfs(core, extenders, realEnvironment.timers).answer(pod);
    if (answer === undefined) throw new OrchError('Refused', 'no profile is for the pod');
    if (answer.extenders.startsWith('failed')) warn(`extenders ${answer.extenders}`);
    process.stdout.write(isJson ? `${JSON.stringify(answer)}\n` : explanationText(answer.nodes));
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
