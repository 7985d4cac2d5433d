// Which workload heeds which option. One that a workload would not look at is refused before anything is measured: figures under
// other conditions than somebody asked for are worse than none.
import { type BenchOptions, type OptionName, UsageError } from './options.ts';

const ALWAYS: readonly OptionName[] = ['json', 'help'];
/** Of a server that the bench starts. */
const OWN: readonly OptionName[] = ['placement', 'server-option'];
/** Of one that runs already. */
const RUNNING: readonly OptionName[] = ['url', 'kubeconfig', 'token', 'pid', 'allow-remote'];
/** How long a load is. */
const BOUNDS: readonly OptionName[] = ['seconds', 'duration', 'count'];
/** What the bare server has nothing of. */
const NOT_BARE: readonly OptionName[] = [...OWN, ...RUNNING, 'protobuf', 'beside'];
const SERVED: readonly OptionName[] = [...OWN, ...RUNNING, 'connections', 'floor'];

/** By the name of the workload, or of what else is done with workloads. */
const HEEDED: Readonly<Record<string, readonly OptionName[]>> = {
  create: [...SERVED, ...BOUNDS, 'bare', 'kind', 'bytes', 'batch'],
  get: [...SERVED, ...BOUNDS, 'bare', 'beside', 'objects', 'bytes', 'protobuf'],
  auth: [...OWN, ...BOUNDS, 'connections'],
  audit: [...OWN, ...BOUNDS, 'connections'],
  admission: [...OWN, 'count', 'connections'],
  aggregation: [...OWN, ...BOUNDS, 'connections'],
  fairness: [...OWN, ...BOUNDS],
  list: [...SERVED, ...BOUNDS, 'limit', 'objects', 'bytes', 'protobuf'],
  update: [...SERVED, ...BOUNDS, 'bare', 'kind', 'change', 'patch', 'objects', 'bytes', 'batch'],
  custom: [...OWN, ...BOUNDS, 'connections', 'objects'],
  delete: [...SERVED, 'bare', 'kind', 'objects', 'bytes', 'batch'],
  watch: [...SERVED, ...BOUNDS, 'watchers', 'selector', 'stalled', 'http2', 'protobuf', 'rate', 'window', 'bytes'],
  schedule: [...SERVED, 'case', 'nodes', 'pods', 'rate', 'bytes', 'batch'],
  pending: [...OWN, ...BOUNDS, 'objects', 'bytes'],
  start: [...OWN, 'count', 'objects', 'floor'],
  first: [...OWN, ...RUNNING, ...BOUNDS, 'bare', 'connections'],
  size: [...OWN, 'objects', 'bytes'],
  codec: ['count', 'bytes', 'floor'],
  hub: ['count', 'objects', 'bytes'],
  floor: ['connections', 'bytes', 'watchers', 'rate', 'batch'],
  budget: [...OWN, 'connections', 'rows', 'rounds'],
  profile: ['svg'],
  'placement compare': ['workload'],
};

/**
 * Throws UsageError for an option that none of those named looks at. Workloads that measure servers of their own say by themselves
 * what `--url` and `--kubeconfig` would mean to them.
 */
export function requireHeeded(names: readonly string[], options: BenchOptions): void {
  const heeded = new Set<string>([...ALWAYS, ...names.flatMap((name) => HEEDED[name] ?? [])]);
  if (names.some((name) => HEEDED[name]?.includes('placement'))) {
    heeded.add('url');
    heeded.add('kubeconfig');
  }
  if (options.bare === true && heeded.has('bare')) for (const name of NOT_BARE) heeded.delete(name);
  const unheeded = Object.keys(options).find((name) => !heeded.has(name));
  const who = options.bare === true && unheeded !== 'bare' ? `${names.join(', ')} --bare` : names.join(', ');
  if (unheeded !== undefined) throw new UsageError(`${who} does not heed --${unheeded}`);
}
