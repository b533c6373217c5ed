// Types for an untyped package that parses the text format of Prometheus.
declare module 'parse-prometheus-text-format' {
  interface ParsedSample {
    readonly labels?: Readonly<Record<string, string>>;
    readonly value?: string;
  }
  interface ParsedFamily {
    readonly name: string;
    readonly help: string;
    readonly type: 'COUNTER' | 'GAUGE' | 'HISTOGRAM' | 'SUMMARY' | 'UNTYPED';
    readonly metrics: readonly ParsedSample[];
  }
  export default function parse(text: string): ParsedFamily[];
}
