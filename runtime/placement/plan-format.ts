// A plan in words: a page for `placement check`, a line for the start-up log.
import type { Plan, PlannedThread } from './plan.ts';

/** One line a thread with its actors, settings below their actor, warnings last. Ends without a newline. */
export function formatPlan(plan: Plan): string {
  const width = Math.max(...plan.threads.map(({ name }) => name.length));
  const threads = plan.threads.length === 1 ? '1 thread' : `${plan.threads.length} threads`;
  const lines = [`placement ${plan.name}: ${threads} beside the main one`];
  for (const { name, actors } of plan.threads) {
    lines.push(`  ${name.padEnd(width)}  ${actors.map((actor) => actor.name).join(' ')}`);
    for (const actor of actors) {
      const settings = Object.entries(actor.settings).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
      if (settings.length > 0) lines.push(`  ${' '.repeat(width)}    ${actor.name}: ${settings.join(' ')}`);
    }
  }
  for (const warning of plan.warnings) lines.push(`warning: ${warning}`);
  return lines.join('\n');
}

/** `default: front (ingress auth audit hub admission), store, control (scheduler controllers)`. */
export function summarizePlan(plan: Plan): string {
  const groups = new Map<string, PlannedThread[]>();
  for (const thread of plan.threads) groups.set(thread.group, [...(groups.get(thread.group) ?? []), thread]);
  const words = [...groups].map(([group, threads]) => {
    const actors = threads[0]!.actors.map(({ actor }) => actor).join(' ');
    const count = threads.length > 1 ? ` x${threads.length}` : '';
    return actors === group ? `${group}${count}` : `${group}${count} (${actors})`;
  });
  return `${plan.name}: ${words.join(', ')}`;
}
