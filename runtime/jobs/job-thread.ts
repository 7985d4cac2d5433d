// What the pool's thread runs before its first job: it gives way to the actors' threads, and gives back what it does not use.

import { getPriority, setPriority } from 'node:os';
import { writeExactIntegers } from '../exact-integers.ts';
import { collectWhenIdle } from '../memory/idle-collection.ts';

/** More than the actors' threads have: where a core is shared with busy ones, the pool gets half of what each of them has. */
const NICENESS = 3;
const NICENESS_MAX = 19;

// Elsewhere the priority is the whole process's. Nobody but root may be less nice than before, which an operator may have made the server.
if (process.platform === 'linux') setPriority(0, Math.min(NICENESS_MAX, getPriority() + NICENESS));
collectWhenIdle();
writeExactIntegers();

/** The pool calls every module it loads by a function's name; this one has nothing else to do. */
export default function nothing(): void {}
