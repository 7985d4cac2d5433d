// The runtime's own actor, one on each thread: answers what others may ask about the thread itself.

import type { Actor, MessageOf, Protocol, Reply } from '../actor.ts';
import type { Clock } from '../environment.ts';
import { OrchError } from '../errors.ts';
import type { LogLevel } from '../logging/log-options.ts';
import type { Metrics, MetricsReading } from '../metrics/metrics.ts';
import type { ThreadMemory } from '../profiles/thread-memory.ts';
import type { ProfileKind, Profiler, ThreadProfile, ThreadTrace } from '../profiles/thread-profile.ts';
import type { ThreadState } from '../profiles/thread-state.ts';
import { unreachable } from '../unreachable.ts';

export interface ThreadProtocol extends Protocol {
  readonly asks: {
    readonly metrics: { readonly message: Record<never, never>; readonly reply: MetricsReading };
    /**
     * Asked of the first thread before any is profiled, by whoever is to profile several at once: refused while somebody
     * else has it. Ends with `release`, or by itself after `forMs`.
     */
    readonly claim: { readonly message: { readonly forMs: number }; readonly reply: null };
    /** Answered once `durationMs` have passed; of the heap, 0 asks for all that it holds now. Refused where nothing can take profiles, or one is being taken. */
    readonly profile: {
      readonly message: { readonly kind: ProfileKind; readonly durationMs: number };
      readonly reply: ThreadProfile;
    };
    /** Answered once the thread's garbage is collected. Refused where nothing can take profiles. */
    readonly collect: { readonly message: Record<never, never>; readonly reply: null };
    /** Answered and refused as `profile` is. */
    readonly trace: { readonly message: { readonly durationMs: number }; readonly reply: ThreadTrace };
    readonly state: { readonly message: Record<never, never>; readonly reply: ThreadState };
    readonly memory: { readonly message: Record<never, never>; readonly reply: ThreadMemory };
    /** Sets how much the thread logs, until it ends. */
    readonly setLogLevel: { readonly message: { readonly level: LogLevel }; readonly reply: null };
  };
  readonly tells: {
    /** Whoever has the claim is through. */
    readonly release: Record<never, never>;
    /** Nobody waits any more for the profile, or trace, that is being taken. */
    readonly endProfile: Record<never, never>;
  };
}

const TAKEN = 'a profile is being taken';

declare module '../actor.ts' {
  interface ActorProtocols {
    readonly thread: ThreadProtocol;
  }
}

/** What the actor tells of. */
export interface ThreadParts {
  readonly metrics: Metrics;
  readonly state: () => ThreadState;
  readonly memory: () => ThreadMemory;
  readonly clock: Clock;
  readonly setLogLevel: (level: LogLevel) => void;
  /** Absent where there is no thread of its own to look at: in a simulation. */
  readonly profiler: Profiler | undefined;
}

export class ThreadActor implements Actor<ThreadProtocol> {
  private readonly parts: ThreadParts;
  private claimedUntilMs = 0;

  constructor(parts: ThreadParts) {
    this.parts = parts;
  }

  onMessage(message: MessageOf<ThreadProtocol>, reply: Reply): void {
    switch (message.type) {
      case 'metrics':
        reply.send(this.parts.metrics.reading());
        return;
      case 'state':
        reply.send(this.parts.state());
        return;
      case 'memory':
        reply.send(this.parts.memory());
        return;
      case 'setLogLevel':
        this.parts.setLogLevel(message.level);
        reply.send(null);
        return;
      case 'claim':
        this.claim(message.forMs, reply);
        return;
      case 'release':
        this.claimedUntilMs = 0;
        return;
      case 'endProfile':
        this.parts.profiler?.end();
        return;
      case 'profile':
        this.profiled(reply, (profiler) => profiler.take(message.kind, message.durationMs));
        return;
      case 'collect':
        this.profiled(reply, async (profiler) => {
          await profiler.collect();
          return null;
        });
        return;
      case 'trace':
        this.profiled(reply, (profiler) => profiler.trace(message.durationMs));
        return;
      default:
        unreachable(message);
    }
  }

  private claim(forMs: number, reply: Reply): void {
    const nowMs = this.parts.clock.monotonicMs();
    if (nowMs < this.claimedUntilMs) {
      reply.fail(new OrchError('Refused', TAKEN));
      return;
    }
    this.claimedUntilMs = nowMs + forMs;
    reply.send(null);
  }

  private profiled(reply: Reply, take: (profiler: Profiler) => Promise<unknown>): void {
    const { profiler } = this.parts;
    if (profiler === undefined) {
      reply.fail(new OrchError('Refused', 'this thread takes no profiles'));
      return;
    }
    take(profiler).then(
      (profile) => reply.send(profile),
      (error: unknown) => reply.fail(error),
    );
  }
}
