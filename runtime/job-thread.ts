// What the pool's thread runs before its first job: it gives way to the actors' threads, and gives back what it does not use.
import { setPriority } from 'node:os';
import { collectWhenIdle } from './idle-collection.ts';

/** Beside a busy actor thread on the same core the pool then gets a tenth; a core without work is all its. */
const NICENESS = 10;

// Elsewhere the priority is the whole process's.
if (process.platform === 'linux') setPriority(0, NICENESS);
collectWhenIdle();

/** The pool calls every module it loads by a function's name; this one has nothing else to do. */
export default function nothing(): void {}
