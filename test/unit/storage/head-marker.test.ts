import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { HeadMarker, isMarkerDamaged } from '../../../storage/level/head-marker.ts';

const SLOT_BYTES = 16;

function markerPath(t: { teardown(undo: () => Promise<void>): void }): string {
  const directory = mkdtempSync(join(tmpdir(), 'head-marker-'));
  t.teardown(() => rm(directory, { recursive: true }));
  return join(directory, 'head');
}

/** What a new process would find in the file. */
function found(path: string): number {
  const marker = new HeadMarker(path);
  marker.close();
  return marker.revision;
}

function advance(path: string, ...revisions: readonly number[]): void {
  const marker = new HeadMarker(path);
  for (const revision of revisions) marker.advance(revision);
  marker.close();
}

test('a new marker is at 0', (t) => {
  t.is(found(markerPath(t)), 0);
});

test('the marker says how far it was advanced', (t) => {
  const path = markerPath(t);
  for (const revision of [1, 2, 2 ** 40, Number.MAX_SAFE_INTEGER]) {
    advance(path, revision);
    t.is(found(path), revision);
  }
});

test('a torn write leaves the revision before it', (t) => {
  const path = markerPath(t);
  advance(path, 40, 41);
  const whole = readFileSync(path);
  for (const slot of [0, 1]) {
    for (let torn = 0; torn < SLOT_BYTES - 4; torn++) {
      const bytes = Buffer.from(whole);
      bytes[slot * SLOT_BYTES + torn]! ^= 0x40;
      writeFileSync(path, bytes);
      t.is(found(path), slot === 0 ? 41 : 40);
    }
  }
});

test('after a restart as well, the write that comes next spares the latest revision', (t) => {
  for (const revisions of [[10], [10, 11], [10, 11, 12]]) {
    const path = markerPath(t);
    advance(path, ...revisions);
    const latest = revisions.at(-1)!;
    const before = readFileSync(path);
    advance(path, 99);
    const after = readFileSync(path);
    const written = [0, 1].filter(
      (slot) =>
        !Buffer.from(before.subarray(slot * SLOT_BYTES, (slot + 1) * SLOT_BYTES)).equals(
          after.subarray(slot * SLOT_BYTES, (slot + 1) * SLOT_BYTES),
        ),
    );
    t.is(written.length, 1);
    // Tear what was written: the other slot must still hold the latest.
    after[written[0]! * SLOT_BYTES]! ^= 1;
    writeFileSync(path, after);
    t.is(found(path), latest, `after ${revisions.join(', ')}`);
  }
});

test('a file with no whole slot is at 0', (t) => {
  const path = markerPath(t);
  for (const bytes of [Buffer.alloc(0), Buffer.alloc(7), Buffer.alloc(32), Buffer.alloc(40, 0xff)]) {
    writeFileSync(path, bytes);
    t.is(found(path), 0);
  }
});

test('a file that holds something, and nothing that was written, is damaged; one that a power failure left is not', (t) => {
  const path = markerPath(t);
  t.false(isMarkerDamaged(path));
  for (const [bytes, isDamaged] of [
    [Buffer.alloc(0), false],
    [Buffer.alloc(32), false],
    [Buffer.from('garbage'), true],
    [Buffer.alloc(40, 0xff), true],
  ] as const) {
    writeFileSync(path, bytes);
    t.is(isMarkerDamaged(path), isDamaged);
  }
  writeFileSync(path, '');
  advance(path, 0);
  t.false(isMarkerDamaged(path));
  advance(path, 1, 2);
  const torn = readFileSync(path);
  torn[0]! ^= 1;
  writeFileSync(path, torn);
  t.false(isMarkerDamaged(path));
});
