// The runtime's own series about the mailboxes of a thread, labelled with actor and thread. Read when asked for, so that
// delivering a message touches no metric.
import type { Mailbox } from './mailbox.ts';
import type { Metrics } from './metrics.ts';

/** Declares the series and fills them before each reading. */
export function publishMailboxMetrics(metrics: Metrics, thread: string, mailboxes: ReadonlyMap<number, Mailbox>): void {
  const observed = [...mailboxes.values()].map((mailbox) => {
    const labels = { actor: mailbox.name, thread };
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
