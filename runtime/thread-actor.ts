// The runtime's own actor, one on each thread: answers what others may ask about the thread itself.

import type { Actor, MessageOf, Protocol, Reply } from './actor.ts';
import type { Metrics, MetricsReading } from './metrics.ts';
import { unreachable } from './unreachable.ts';

export interface ThreadProtocol extends Protocol {
  readonly asks: {
    readonly metrics: { readonly message: Record<never, never>; readonly reply: MetricsReading };
  };
  readonly tells: Record<never, never>;
}

export class ThreadActor implements Actor<ThreadProtocol> {
  private readonly metrics: Metrics;

  constructor(metrics: Metrics) {
    this.metrics = metrics;
  }

  onMessage(message: MessageOf<ThreadProtocol>, reply: Reply): void {
    switch (message.type) {
      case 'metrics':
        reply.send(this.metrics.reading());
        return;
      default:
        unreachable(message.type);
    }
  }
}
