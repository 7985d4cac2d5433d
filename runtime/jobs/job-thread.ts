// What the pool's thread runs before its first job: it gives way to the actors' threads, and gives back what it does not use.

import { setPriority } from 'node:os';
import { writeExactIntegers } from '../exact-integers.ts';
import { collectWhenIdle } from '../memory/idle-collection.ts';

/** Where a core is shared with busy threads of actors, the pool gets half of what each of them has. */
const NICENESS = 3;

// Elsewhere the priority is the whole process's.
if (process.platform === 'linux') setPriority(0, NICENESS);
collectWhenIdle();
writeExactIntegers();

/** The pool calls every module it loads by a function's name; this one has nothing else to do. */
export default function nothing(): void {}
