// The runtime's own series about the mailboxes of a thread, labelled with actor and thread. Read when asked for, so that
// delivering a message touches no metric but for the length of a turn.

import type { Metrics } from '../metrics/metrics.ts';
import type { Mailbox } from './mailbox.ts';

const TURN_SECONDS = [0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1];

/** Declares the series and fills them before each reading. */
export function publishMailboxMetrics(metrics: Metrics, thread: string, mailboxes: ReadonlyMap<number, Mailbox>): void {
  const observed = [...mailboxes.values()].map((mailbox) => {
    const labels = { actor: mailbox.name, thread };
    mailbox.turnSeconds = metrics.histogram('actor_turn_seconds', 'How long batches took.', TURN_SECONDS, labels);
    return {
      mailbox,
      depth: metrics.gauge('actor_mailbox_depth', 'Messages waiting and asks not yet answered.', labels),
      handled: metrics.counter('actor_messages_total', 'Messages handled.', labels),
      turns: metrics.counter('actor_turns_total', 'Batches of messages drained.', labels),
      turnMax: metrics.gauge('actor_turn_seconds_max', 'The longest batch since the start.', labels),
    };
  });
  metrics.beforeReading(() => {
    for (const { mailbox, depth, handled, turns, turnMax } of observed) {
      const stats = mailbox.stats();
      depth.set(stats.depth);
      handled.set(stats.handled);
      turns.set(stats.turns);
      turnMax.set(stats.turnMsMax / 1000);
    }
  });
}
