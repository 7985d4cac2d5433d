// What filters and scores last said of a node, kept until it changes: pods that are alike, as replicas are, come one after the
// other, and most nodes stand as they stood for the one before. Knows nothing of what is asked.

import { keep } from '../../../values/kept.ts';
import type { Status } from '../status.ts';

/** What is asked of nodes for pods that are alike; the same question is the same object. */
export interface NodeQuestion {
  readonly text: string;
}

/** Beyond so many kinds of pods, all are asked about anew. */
const QUESTIONS_MAX = 256;

export class NodeQuestions {
  private readonly byText = new Map<string, NodeQuestion>();

  /** Undefined where no text says what is asked. */
  of(schedulerName: string, text: string | undefined): NodeQuestion | undefined {
    if (text === undefined) return undefined;
    const whole = `${schedulerName}: ${text}`;
    let question = this.byText.get(whole);
    if (question !== undefined) return question;
    // What nodes have answered to a question that is forgotten is no answer to another.
    question = { text: whole };
    keep(this.byText, QUESTIONS_MAX, whole, question);
    return question;
  }
}

/** The answers of one node: one of the filters together, one of the scores together. */
export class NodeAnswers {
  /** How often the node has changed: what others found out about it holds while this stays as it is. */
  changes = 0;
  fitAsked: NodeQuestion | undefined;
  fit: Status | null = null;
  scoreAsked: NodeQuestion | undefined;
  score = 0;

  forget(): void {
    this.changes++;
    this.fitAsked = undefined;
    this.scoreAsked = undefined;
  }
}
