// The volume that a claim gets on a node: what is found by labels is what looking at every volume finds.
import test from 'ava';
import type { NodeInfo } from '../../../../actors/scheduler/nodes/node-info.ts';
import { type Claim, readClaim, readVolume, type Volume } from '../../../../actors/scheduler/objects/volume-objects.ts';
import { VolumeState } from '../../../../actors/scheduler/objects/volume-state.ts';
import { volumeFinder } from '../../../../actors/scheduler/plugins/volume-match.ts';
import { reachable } from '../../../../actors/scheduler/plugins/volume-reach.ts';
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { nodeInfo, seededRandom } from '../objects.ts';
import { claim, names, volume } from './volume-objects.ts';

const { next } = seededRandom(5);
const below = (count: number) => Math.floor(next() * count);
const pick = <T>(of: readonly T[]): T => of[below(of.length)]!;
const ZONES = ['a', 'b'];
const HOSTS = ['n0', 'n1', 'n2', 'n3'];

const inHosts = () => ({ key: 'host', operator: 'In', values: [pick(HOSTS), pick(HOSTS)] });
const inZone = () => ({ key: 'zone', operator: 'In', values: [pick(ZONES)] });
const notIn = () => ({ key: 'host', operator: 'NotIn', values: [pick(HOSTS)] });
const term = (...matchExpressions: readonly object[]) => ({ matchExpressions });
const TERMS: readonly (() => readonly object[] | undefined)[] = [
  () => undefined,
  () => [term(inHosts())],
  () => [term(inZone())],
  () => [term(notIn(), inZone())],
  () => [term(notIn())],
  () => [term(inHosts()), term(inZone())],
  () => [term({ key: 'zone', operator: 'In', values: ['a'] }, inHosts())],
];

function someVolume(name: string): JsonObject {
  const nodeSelectorTerms = pick(TERMS)();
  const kept = below(12) === 0 ? { claimRef: { namespace: 'default', name: pick(['c', 'd']) } } : {};
  const where = nodeSelectorTerms === undefined ? {} : { nodeAffinity: { required: { nodeSelectorTerms } } };
  return volume(name, { capacity: { storage: `${3 + below(6)}Gi` }, ...where, ...kept });
}

/** The one that is kept for the claim, if any is, and else the smallest; the first of those that are equal. */
function byLookingAtAll(of: Claim, volumes: readonly Volume[], node: NodeInfo, taken: ReadonlySet<string>) {
  const large = volumes.filter(({ capacityBytes }) => capacityBytes >= of.requestBytes);
  const kept = large.find((each) => each.claim?.name === of.name);
  if (kept !== undefined) return reachable(kept, node) ? kept.name : undefined;
  let best: Volume | undefined;
  for (const each of large) {
    if (each.claim !== undefined || taken.has(each.name) || !reachable(each, node)) continue;
    if (best === undefined || each.capacityBytes < best.capacityBytes) best = each;
  }
  return best?.name;
}

test('a claim gets the smallest volume that can be reached from the node, however the volumes say where that is', (t) => {
  const nodes = HOSTS.map((host) =>
    nodeInfo(host, { labels: { host, ...(below(4) === 0 ? {} : { zone: pick(ZONES) }) } }),
  );
  const wanted = readClaim(claim('c'), names);
  for (let round = 0; round < 200; round++) {
    const state = new VolumeState(names);
    for (let at = 0; at < 1 + below(15); at++) state.setVolume(`v${at}`, someVolume(`v${at}`));
    const volumes = state.volumesOfClass('slow', wanted);
    const find = volumeFinder(wanted, state);
    for (const node of nodes) {
      const free = volumes.filter((each) => each.claim === undefined);
      const taken = new Set(free.filter(() => below(5) === 0).map(({ name }) => name));
      t.is(find(node, taken)?.name, byLookingAtAll(wanted, volumes, node, taken), JSON.stringify(volumes));
    }
  }
});

test('the class of a volume or a claim is what its annotation says, also where that says none', (t) => {
  const classesOf = (annotations: JsonObject) =>
    [readVolume(volume('v', {}, { annotations }), names), readClaim(claim('c', {}, { annotations }), names)].map(
      ({ storageClass }) => storageClass,
    );
  const classes = [{}, { [names.classAnnotation]: 'fast' }, { [names.classAnnotation]: '' }].map(classesOf);
  t.deepEqual(classes, [
    ['slow', 'slow'],
    ['fast', 'fast'],
    ['', ''],
  ]);
});
