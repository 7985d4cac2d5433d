// Patches of every kind on objects that nobody but the clients changes. A JSON patch takes the present tag along into the
// annotation `before`, so that each patched object says which state it was patched from: a patch that was lost, applied
// twice or applied to an old state shows.
import { CONFIG_MAPS, type Collection, SECRETS, type WriteParts } from './client.ts';
import { FINALIZER, type Hand, insistingOn } from './hand.ts';

const DRY_RUNS = 10;
const TAG = '/metadata/annotations/tag';

/** What is said to the server, and what it must come to. */
type Patch = Pick<WriteParts, 'contentType' | 'body'> &
  Required<Pick<WriteParts, 'tag' | 'before'>> & { held: boolean | undefined };

export class PatchSteps {
  readonly #hand: Hand;

  constructor(hand: Hand) {
    this.#hand = hand;
  }

  async patch(): Promise<void> {
    const hand = this.#hand;
    const collection = hand.rarely(4) ? SECRETS : CONFIG_MAPS;
    const key = hand.plainName();
    const version = hand.rarely(3) ? await this.#precondition(collection, key) : undefined;
    const make = hand.pick([jsonPatch, jsonPatch, mergePatch, strategicPatch, emptyPatch]);
    const patch = make(hand, version?.resourceVersion);
    const parts = { kind: 'patch', ...key, ...patch, dry: hand.rarely(DRY_RUNS) } as const;
    const outcome = await hand.client.write(collection, { ...parts, ...(version && { expects: version.expects }) });
    if (outcome.is !== 'ok') hand.forget(collection, key);
  }

  async #precondition(collection: Collection, key: { readonly namespace: string; readonly name: string }) {
    const read = await this.#hand.lastRead(collection, key);
    return read && insistingOn(collection, read);
  }
}

function jsonPatch(hand: Hand, resourceVersion: string | undefined): Patch {
  const tag = hand.tag();
  const body: object[] = [
    { op: 'copy', from: TAG, path: '/metadata/annotations/before' },
    { op: 'replace', path: TAG, value: tag },
  ];
  if (resourceVersion !== undefined)
    body.unshift({ op: 'test', path: '/metadata/resourceVersion', value: resourceVersion });
  return { contentType: 'application/json-patch+json', body, tag, before: 'chained', held: undefined };
}

function mergePatch(hand: Hand, resourceVersion: string | undefined): Patch {
  const tag = hand.tag();
  const held = hand.pick([undefined, undefined, true, false]);
  const metadata = {
    annotations: { tag },
    labels: { tier: hand.pick(['front', 'back', null]) },
    ...(held === undefined ? {} : { finalizers: held ? [FINALIZER] : null }),
    resourceVersion,
  };
  return { contentType: 'application/merge-patch+json', body: { metadata }, tag, before: 'kept', held };
}

function strategicPatch(hand: Hand, resourceVersion: string | undefined): Patch {
  const tag = hand.tag();
  const held = hand.pick([undefined, undefined, true, false]);
  const replaces = hand.rarely(3);
  const metadata = {
    annotations: replaces ? { $patch: 'replace', tag } : { tag },
    labels: { tier: hand.pick(['front', 'back', null]) },
    ...(held === true ? { finalizers: [FINALIZER] } : {}),
    ...(held === false ? { '$deleteFromPrimitiveList/finalizers': [FINALIZER] } : {}),
    resourceVersion,
  };
  const contentType = 'application/strategic-merge-patch+json';
  return { contentType, body: { metadata }, tag, before: replaces ? 'cleared' : 'kept', held };
}

/** Says nothing, or only which version it is for. */
function emptyPatch(hand: Hand, resourceVersion: string | undefined): Patch {
  const contentType = hand.pick(['application/merge-patch+json', 'application/strategic-merge-patch+json']);
  const body = resourceVersion === undefined ? {} : { metadata: { resourceVersion } };
  return { contentType, body, tag: '', before: 'kept', held: undefined };
}
