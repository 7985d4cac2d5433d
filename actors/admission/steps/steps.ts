// What is done to an object on its way into the store, in the order it is done, and where admission plugins stand in it.
// Every try of a write goes through all of its steps, so that what is stored has been through each of them.

import { takeEqualParts } from '../../../api/json/equal-parts.ts';
import type { JsonObject } from '../../../api/json/json-value.ts';
import { asObject } from '../../../api/json/object-fields.ts';
import { type Own, ownCopy } from '../../../api/json/own-copy.ts';
import { begun, nameSuffix, placedNew, prepareUpdate } from '../../../api/metadata/metadata.ts';
import { metadataOf, timestampOf } from '../../../api/metadata/object-meta.ts';
import type { SubresourceView } from '../../../api/subresource-views.ts';
import type { Attributes, PluginCall } from '../attributes.ts';
import { canonicalMetadata, canonicalOf } from '../completion.ts';
import type { Allocation, KindVersion } from '../kind-version.ts';
import type { KnownSpec } from '../known-specs.ts';
import { afterOthers } from '../large-writes.ts';
import { callEach } from '../plugins/chain.ts';
import { keepOwnersReadable } from '../shown-owners.ts';
import { withItsWarnings } from '../warned-refusal.ts';
import type { WriteContext } from '../write-context.ts';
import { requireGrant } from './grants.ts';
import { keepMutatedOwnersOnce, keepOwnersOnce } from './owners-once.ts';
import { ownByCreator, ownByUpdater } from './ownership.ts';
import { requireValidNew, requireValidUpdate } from './validity.ts';

/** Changes `attributes.object`, or throws what refuses the write. A step that need not wait answers nothing. */
export type Step = (attributes: Attributes, write: WriteContext) => Promise<void> | undefined | void;

/** A new object, from what its creator means to what is stored. */
export const CREATE_STEPS: readonly Step[] = [
  keepOwnersOnce,
  placeNew,
  complete,
  ownByCreator,
  mutatingPlugins,
  requireHeld,
  begin,
  completeAllocation,
  requireValidNew,
  allocate,
  validatingPlugins,
];

/** An object that replaces a stored one, which a patch, an apply or a view of it has been merged into. */
export const UPDATE_STEPS: readonly Step[] = [
  keepOwnersOnce,
  complete,
  keepUnchangeable,
  takeEqual,
  keepStored,
  ownByUpdater,
  mutatingPlugins,
  requireHeld,
  completeAllocation,
  requireValidUpdate,
  allocate,
  validatingPlugins,
];

/**
 * What is wanted is the stored object itself, which has been through all the steps, or one of which metadata alone is another and has been
 * looked at: those of an update for what plugins change.
 */
export const UNCHANGED_STEPS: readonly Step[] = [
  mutatingPlugins,
  ...[requireHeld, completeAllocation, requireValidUpdate, allocate].map(ifChanged),
  validatingPlugins,
];

/** A DELETE, and the subresources that store no object of their own (bindings, evictions, tokens, connections). */
export const PLUGIN_STEPS: readonly Step[] = [mutatingPlugins, validatingPlugins];

/** The same where what is wrong with what mutating plugins made of it is told before others look at it. */
export function pluginStepsAround(check: Step): readonly Step[] {
  return [mutatingPlugins, check, validatingPlugins];
}

/** Takes every step; undefined when none of them had to wait. Throws, or rejects with, what refuses the write. */
export function takeSteps(
  steps: readonly Step[],
  attributes: Attributes,
  write: WriteContext,
): Promise<void> | undefined {
  const waiting = attributes.isLarge ? takeApart(steps, attributes, write) : takeFrom(0, steps, attributes, write);
  // Who warns has been waited for.
  return waiting?.catch((error: unknown) => {
    throw withItsWarnings(error, attributes);
  });
}

function takeFrom(
  first: number,
  steps: readonly Step[],
  attributes: Attributes,
  write: WriteContext,
): Promise<void> | undefined {
  for (let index = first; index < steps.length; index++) {
    const waiting = steps[index]!(attributes, write);
    if (waiting !== undefined) return waiting.then(() => takeFrom(index + 1, steps, attributes, write));
  }
  return undefined;
}

/** Each in a turn of its own. */
async function takeApart(steps: readonly Step[], attributes: Attributes, write: WriteContext): Promise<void> {
  for (const step of steps) {
    await afterOthers(write);
    await step(attributes, write);
  }
  await afterOthers(write);
}

/**
 * What plugins make of an object that is answered and not stored. Those that only look at it see one that `check` has let pass. Throws what
 * refuses it.
 */
export async function admitOnce(
  write: WriteContext,
  attributes: Attributes,
  object: JsonObject,
  check?: (object: JsonObject) => void,
): Promise<JsonObject> {
  attributes.begin(0, timestampOf(write.context.clock.nowMs()), undefined, object);
  const checked: Step = ({ object: made }) => void check?.(made);
  await takeSteps(pluginStepsAround(checked), attributes, write);
  return attributes.object;
}

/** Under the path's name and namespace, without what its creator cannot say. Throws 400. */
function placeNew(attributes: Attributes): void {
  attributes.object = placedNew(attributes.object, attributes.type, attributes.asked);
}

function complete(attributes: Attributes, { completion }: WriteContext): void {
  // A spec that is known has its defaults; nothing else of its kind has any.
  if (attributes.knownSpec !== undefined && attributes.object.spec === attributes.knownSpec.given) return;
  attributes.object = completion.completed(attributes.object, attributes);
}

/** Nobody grants others what they do not hold themselves. Throws 403, and 404 for a role that is not there. */
function requireHeld(attributes: Attributes, write: WriteContext): Promise<void> | undefined {
  const { grants } = attributes.kind.strategy;
  return grants === undefined ? undefined : requireGrant(attributes, grants(attributes.object, attributes.old), write);
}

/** What the server gives a new object, in canonical form. */
function begin(attributes: Attributes, { context: { random }, completion }: WriteContext): void {
  const { type, nowIso, kind } = attributes;
  const randomSuffix = metadataOf(attributes.object).name ? '' : nameSuffix(() => random.next());
  const made = begun(attributes.object, type, { nowIso, uid: random.uuid(), randomSuffix });
  const named = randomSuffix !== '' && kind.strategy.hasDefaultsByName ? completion.completed(made, attributes) : made;
  const complete = kind.strategy.onCreate?.(named, attributes) ?? named;
  const { knownSpec } = attributes;
  attributes.object = knownSpec === undefined ? canonicalOf(complete, kind) : withOutcome(complete, knownSpec, kind);
}

/** The same of a pod that is the write's own, and of which the spec that was sent is known. */
function withOutcome(pod: Own<JsonObject>, known: KnownSpec, kind: KindVersion): JsonObject {
  const spec = asObject(pod.spec);
  const outcome = known.outcomeOf(spec);
  const metadata = outcome && canonicalMetadata(asObject(pod.metadata), kind);
  if (metadata !== undefined) {
    pod.metadata = metadata;
    pod.spec = outcome;
    return pod;
  }
  const before = ownCopy(spec);
  const canonical = canonicalOf(pod, kind);
  known.remember(before, asObject(canonical.spec));
  return canonical;
}

/** What of the kind an update cannot change is as it is stored. */
function keepUnchangeable(attributes: Attributes): void {
  attributes.sent = attributes.object;
  attributes.object = canonicalOf(updatedByKind(attributes), attributes.kind);
}

function updatedByKind(attributes: Attributes): JsonObject {
  const { kind, object, old } = attributes;
  return kind.strategy.onUpdate?.(object, old!, attributes) ?? object;
}

/** What it leaves as it is, is what is stored: told to be so without comparing it again. */
function takeEqual({ object, old }: Attributes): void {
  if (object !== old) takeEqualParts(object, old!);
}

/** So is what of any object it cannot change. Throws 400, 409, and 422 for a version that had to be named. */
function keepStored(attributes: Attributes): void {
  const { type, object, asked, kind } = attributes;
  const kept = prepareUpdate(object, attributes.old!, type, asked);
  attributes.object = asked.subresource === '' && kind.strategy.onKept ? kind.strategy.onKept(kept) : kept;
}

/** The fields of addresses that follow from others. Throws 422. */
function completeAllocation(attributes: Attributes): void {
  const { kind, type, object, old } = attributes;
  if (kind.allocation !== undefined) attributes.object = kind.allocation.complete(type, object, old);
}

/** Addresses and ports for what still needs them, committed with the object. Throws 422. */
function allocate(attributes: Attributes): Promise<void> | undefined {
  const { allocation } = attributes.kind;
  return allocation === undefined ? undefined : allocateFrom(attributes, allocation);
}

async function allocateFrom(attributes: Attributes, allocation: Allocation): Promise<void> {
  const { type, old, tries, asked } = attributes;
  // The first choice is blind, since it is nearly always free.
  const { object, also } = await allocation.allocate(type, attributes.object, old, tries > 0 || asked.dryRun);
  attributes.object = object;
  attributes.commitAlso(also);
}

function ifChanged(step: Step): Step {
  return (attributes, write) =>
    attributes.isApart || attributes.object === attributes.old ? undefined : step(attributes, write);
}

/** The place of plugins that change objects. */
function mutatingPlugins(attributes: Attributes, write: WriteContext): Promise<void> | undefined {
  const { mutating } = attributes.asked.plugins;
  return mutating.length === 0 ? undefined : mutate(mutating, attributes, write);
}

/** What plugins have changed is completed where they ask for it, and keeps what no update changes. */
function mutate(calls: readonly PluginCall[], attributes: Attributes, write: WriteContext): Promise<void> | undefined {
  // One that is apart is not made for this.
  const given = attributes.isApart ? undefined : attributes.object;
  // Of a new object they stand beside it until a webhook is told it.
  const ownersText = attributes.managedFieldsText;
  const ended = (): Promise<void> | undefined => {
    if (attributes.isApart) return undefined;
    const before = given ?? attributes.replaced;
    if (attributes.wantsSecondRound) return mutateAgain(calls, attributes, write, before, ownersText);
    keepMutated(attributes, write, before);
    return undefined;
  };
  const waiting = callThroughView(calls, attributes);
  return waiting === undefined ? ended() : waiting.then(ended);
}

async function mutateAgain(
  calls: readonly PluginCall[],
  attributes: Attributes,
  write: WriteContext,
  before: JsonObject,
  ownersText: string,
): Promise<void> {
  attributes.beginSecondRound();
  await callThroughView(calls, attributes);
  if (attributes.object !== before) keepOwnersReadable(attributes, before, ownersText);
  keepMutated(attributes, write, before);
}

function keepMutated(attributes: Attributes, write: WriteContext, before: JsonObject): void {
  if (attributes.object === before) return;
  keepMutatedOwnersOnce(attributes);
  // Webhooks' objects have the defaults of the version that they were told, but a custom type may be written in another.
  if (!attributes.isComplete || attributes.type.custom !== undefined) complete(attributes, write);
  if (attributes.asked.operation !== 'update') return;
  attributes.object = updatedByKind(attributes);
  keepStored(attributes);
}

/** The place of plugins that look at the object as it will be stored. */
function validatingPlugins(attributes: Attributes): Promise<void> | undefined {
  const { validating } = attributes.asked.plugins;
  return validating.length === 0 ? undefined : callThroughView(validating, attributes);
}

/** Plugins see what the client sees: where that is another kind's view of the object, they are shown the view. */
function callThroughView(calls: readonly PluginCall[], attributes: Attributes): Promise<void> | undefined {
  const { view } = attributes.asked;
  return view === undefined ? callEach(calls, attributes) : callWithView(calls, attributes, view);
}

async function callWithView(
  calls: readonly PluginCall[],
  attributes: Attributes,
  view: SubresourceView,
): Promise<void> {
  const { object, old } = attributes;
  const shown = view.of(object);
  attributes.object = shown;
  // A wish that it did not have is nobody's business.
  attributes.old = old && (view.ofWritten ?? view.of)(old);
  await callEach(calls, attributes);
  attributes.object = attributes.object === shown ? object : view.applied(object, attributes.object, attributes.type);
  attributes.old = old;
}
