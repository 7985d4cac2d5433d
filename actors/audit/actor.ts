// The audit actor as part of the server: its backends, out of the server's settings.
import type { AuditVersion } from '../../api/audit/event-text.ts';
import { schemaOf } from '../../api/schema/schema.ts';
import { DIALECTS } from '../../config/dialect.ts';
import type { ActorContext } from '../../runtime/actor.ts';
import { heapLimitBytes } from '../../runtime/memory/heap-limit.ts';
import { RotatingFile } from '../../storage/files/rotating-file.ts';
import { standardOutput } from '../../storage/files/standard-output.ts';
import type { ServiceConnection } from '../../transport/outgoing/connection-file.ts';
import { webhookCalls } from '../../transport/outgoing/rest-client-metrics.ts';
import { ServiceClient } from '../../transport/outgoing/service-client.ts';
import { type DefineActor, withSettings } from '../define.ts';
import { tellingTime } from '../outside/webhook-call.ts';
import { featureGates, type ServerSettings } from '../server-settings.ts';
import { type AuditBackend, type AuditMode, auditActor } from './audit.ts';
import { type BatchLimits, throttleOfOne } from './batches.ts';
import { type EventForm, LogSink, WebhookSink } from './sinks.ts';

/** Of the heap of its thread, for what each backend is to be given: of pods of 2 KB it is 10,000 answers and their requests. */
const HEAP_SHARE = 0.125;

export const define: DefineActor = () =>
  withSettings(auditActor, (settings, context) => ({
    backends:
      settings.audit === undefined ? [] : [...logBackend(settings, context), ...webhookBackend(settings, context)],
    schema: schemaOf(DIALECTS[settings.dialect]),
    heapBytesMax: heapLimitBytes() * HEAP_SHARE,
    gate: featureGates(settings).enabled as (name: string) => boolean,
  }));

const MEGABYTE = 1024 * 1024;
/** Where the operator says 0. */
const LOG_MEGABYTES_DEFAULT = 100;
/** A log takes one batch after the other. */
const LOG_BATCHES_UNDER_WAY = 1;
const WEBHOOK_BATCHES_UNDER_WAY = 10;

function logBackend({ options, dialect }: ServerSettings, context: ActorContext): readonly AuditBackend[] {
  const { auditLogPath: path } = options;
  if (path === '') return [];
  const { clock, log } = context;
  return [
    {
      mode: options.auditLogMode as AuditMode,
      limits: batchLimits(
        context.refs('audit').length,
        LOG_BATCHES_UNDER_WAY,
        options.auditLogBatchBufferSize,
        options.auditLogBatchMaxSize,
        options.auditLogBatchMaxWaitMs,
        options.auditLogBatchThrottleEnable && [options.auditLogBatchThrottleQps, options.auditLogBatchThrottleBurst],
      ),
      open: (onTooLarge) =>
        new LogSink(
          {
            dialect: DIALECTS[dialect],
            version: versionOf(options.auditLogVersion),
            truncation: options.auditLogTruncateEnabled
              ? {
                  eventBytesMax: options.auditLogTruncateMaxEventSizeBytes,
                  batchBytesMax: options.auditLogTruncateMaxBatchSizeBytes,
                }
              : undefined,
            onTooLarge,
          },
          options.auditLogFormat === 'legacy',
          path === '-'
            ? standardOutput
            : new RotatingFile(
                path,
                {
                  bytesMax: (options.auditLogMaxsizeMegabytes || LOG_MEGABYTES_DEFAULT) * MEGABYTE,
                  daysMax: options.auditLogMaxageDays,
                  backupsMax: options.auditLogMaxbackup,
                  compresses: options.auditLogCompress,
                },
                () => clock.nowMs(),
                (error) => log.warn({ err: error }, 'old audit logs were not tidied'),
                { index: context.index, count: context.refs('audit').length },
              ),
        ),
    },
  ];
}

function webhookBackend({ options, dialect, audit }: ServerSettings, context: ActorContext): readonly AuditBackend[] {
  const connection = audit?.webhook;
  if (connection === undefined) return [];
  const { timers, random } = context;
  return [
    {
      mode: options.auditWebhookMode as AuditMode,
      limits: batchLimits(
        context.refs('audit').length,
        WEBHOOK_BATCHES_UNDER_WAY,
        options.auditWebhookBatchBufferSize,
        options.auditWebhookBatchMaxSize,
        options.auditWebhookBatchMaxWaitMs,
        options.auditWebhookBatchThrottleEnable && [
          options.auditWebhookBatchThrottleQps,
          options.auditWebhookBatchThrottleBurst,
        ],
      ),
      open: (onTooLarge) => {
        const form: EventForm = {
          dialect: DIALECTS[dialect],
          version: versionOf(options.auditWebhookVersion),
          truncation: options.auditWebhookTruncateEnabled
            ? {
                eventBytesMax: options.auditWebhookTruncateMaxEventSizeBytes,
                batchBytesMax: options.auditWebhookTruncateMaxBatchSizeBytes,
              }
            : undefined,
          onTooLarge,
        };
        const client = clientOf(connection, context);
        return new WebhookSink({ form, client, timers, random, firstBackoffMs: options.auditWebhookInitialBackoffMs });
      },
    },
  ];
}

function clientOf(connection: ServiceConnection, { clock, disk, log, metrics }: ActorContext): ServiceClient {
  return new ServiceClient({
    connection: tellingTime(connection),
    readFile: (path) => disk.readFile(path),
    nowMs: () => clock.monotonicMs(),
    onRefused: (problem) => log.warn(`what was replaced is not used for the audit webhook: ${problem}`),
    ...webhookCalls(metrics, connection.url),
  });
}

function batchLimits(
  threads: number,
  underWayMax: number,
  bufferMax: number,
  batchMax: number,
  waitMs: number,
  throttle: false | readonly [perSecond: number, burst: number],
): BatchLimits {
  return {
    bufferMax,
    batchMax,
    waitMs,
    throttle: throttle === false ? undefined : throttleOfOne(throttle, threads),
    underWayMax,
  };
}

/** The options take the three versions alone. */
function versionOf(apiVersion: string): AuditVersion {
  return apiVersion.slice(apiVersion.indexOf('/') + 1) as AuditVersion;
}
