//! A report as one HTML page: semantic, well-formed as XML, with its style inline and nothing loaded or run.

use super::{Block, Cell, Figure, Gantt, Report, Table, Verdict};
use crate::escape::escape;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

/// Fewer headings than this are seen at a glance and need no table of contents.
const CONTENTS_MIN: usize = 4;

const STYLE: &str = include_str!("report.css");
const GANTT_STYLE: &str = include_str!("gantt.css");
/// Built from `web/` and committed.
const GANTT_SCRIPT: &str = include_str!("../../../../web/dist/report.js");

impl Report {
    /// The page: one file without any part from outside. It is well-formed XML too.
    pub fn html(&self) -> String {
        page(self)
    }
}

fn page(report: &Report) -> String {
    let title = escape(&report.title);
    let mut page = String::new();
    let is_drawn = report.blocks.iter().any(|block| matches!(block, Block::Gantts(_)));
    // XML would read markup where HTML does not: both see the same text.
    let script = if is_drawn { format!("/*<![CDATA[*/{GANTT_SCRIPT}/*]]>*/") } else { String::new() };
    let lets_run = if is_drawn {
        format!("; script-src 'sha256-{}'", STANDARD.encode(Sha256::digest(&script)))
    } else {
        String::new()
    };
    // The policy makes sure that a page with foreign names in it can load and run nothing, even by our mistake.
    put(
        &mut page,
        &[
            r#"<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" lang="en">
<head>
<meta charset="utf-8"/>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"#,
            &lets_run,
            r#""/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<meta name="color-scheme" content="light dark"/>
<title>"#,
            &title,
            "</title>\n<style>\n",
            STYLE,
            if is_drawn { GANTT_STYLE } else { "" },
            "</style>\n</head>\n<body>\n<header>\n<h1>",
            &title,
            "</h1>\n",
        ],
    );
    if let Some(lead) = &report.lead {
        put(&mut page, &["<p class=\"lead\">", &escape(lead), "</p>\n"]);
    }
    page.push_str("</header>\n");
    contents(&mut page, &report.blocks);
    page.push_str("<main>\n");
    blocks(&mut page, &report.blocks);
    page.push_str("</main>\n");
    if is_drawn {
        put(&mut page, &["<script>", &script, "</script>\n"]);
    }
    page.push_str("</body>\n</html>\n");
    page
}

fn put(page: &mut String, parts: &[&str]) {
    page.extend(parts.iter().copied());
}

fn contents(page: &mut String, blocks: &[Block]) {
    let headings = blocks.iter().filter_map(|block| match block {
        Block::Heading(text) => Some(("section", text)),
        Block::Subheading(text) => Some(("part", text)),
        Block::Text(_) | Block::Note(_) | Block::Table(_) | Block::Figure(_) | Block::Gantts(_) => None,
    });
    let headings: Vec<_> = headings.collect();
    if headings.len() < CONTENTS_MIN {
        return;
    }
    page.push_str("<nav aria-label=\"Contents\">\n<h2>Contents</h2>\n<ul>\n");
    for (number, (class, text)) in (1..).zip(headings) {
        let (number, text): (i32, _) = (number, escape(text));
        let link = format!("<li class=\"{class}\"><a href=\"#part-{number}\">{text}</a></li>\n");
        page.push_str(&link);
    }
    page.push_str("</ul>\n</nav>\n");
}

fn blocks(page: &mut String, blocks: &[Block]) {
    let mut headings = 0;
    for block in blocks {
        match block {
            Block::Heading(text) => heading(page, "h2", text, &mut headings),
            Block::Subheading(text) => heading(page, "h3", text, &mut headings),
            Block::Text(text) => paragraphs(page, text),
            Block::Note(text) => {
                page.push_str("<aside class=\"note\" role=\"note\">\n");
                paragraphs(page, text);
                page.push_str("</aside>\n");
            }
            Block::Table(table) => self::table(page, table),
            Block::Figure(figure) => self::figure(page, figure),
            Block::Gantts(gantts) => {
                page.push_str("<div class=\"figures\">\n");
                // Those that stand side by side have the same clock.
                let join = |(begin, end): (f64, f64), (from, to): (f64, f64)| (begin.min(from), end.max(to));
                let clock = gantts.iter().filter_map(Gantt::stretch).reduce(join).unwrap_or((0.0, 1.0));
                for gantt in gantts {
                    self::gantt(page, gantt, clock);
                }
                page.push_str("</div>\n");
            }
        }
    }
}

/// Without the script there is the caption only; the plots around it say the most.
fn gantt(page: &mut String, gantt: &Gantt, clock: (f64, f64)) {
    put(
        page,
        &["<figure>\n<div class=\"gantt-place\"><script type=\"application/json\">", &gantt.json(clock)],
    );
    let caption = escape(&gantt.caption());
    put(page, &["</script></div>\n<figcaption>", &caption, "</figcaption>\n</figure>\n"]);
}

fn heading(page: &mut String, tag: &str, text: &str, headings: &mut usize) {
    *headings += 1;
    put(page, &["<", tag, " id=\"part-", &headings.to_string(), "\">", &escape(text), "</", tag, ">\n"]);
}

fn paragraphs(page: &mut String, text: &str) {
    for text in text.split("\n\n").map(str::trim).filter(|text| !text.is_empty()) {
        put(page, &["<p>", &escape(text), "</p>\n"]);
    }
}

fn figure(page: &mut String, figure: &Figure) {
    // A plot wider than a phone scrolls by itself, also by keyboard, and the page does not.
    let caption = escape(&figure.caption);
    put(page, &["<figure>\n<div class=\"scroll\" tabindex=\"0\">\n", figure.svg.as_str(), "</div>\n"]);
    put(page, &["<figcaption>", &caption, "</figcaption>\n</figure>\n"]);
}

fn table(page: &mut String, table: &Table) {
    page.push_str("<div class=\"scroll\" tabindex=\"0\">\n<table>\n");
    put(page, &["<caption>", &escape(&table.caption), "</caption>\n<thead>\n<tr>"]);
    for (column, name) in table.header.iter().enumerate() {
        let class = if table.is_numeric(column) { " class=\"number\"" } else { "" };
        put(page, &["<th scope=\"col\"", class, ">", &escape(name), "</th>"]);
    }
    page.push_str("</tr>\n</thead>\n<tbody>\n");
    for cells in &table.rows {
        page.push_str("<tr>");
        for (column, cell) in cells.iter().enumerate() {
            self::cell(page, cell, column);
        }
        page.push_str(&"<td></td>".repeat(table.header.len().saturating_sub(cells.len())));
        page.push_str("</tr>\n");
    }
    page.push_str("</tbody>\n</table>\n</div>\n");
}

fn cell(page: &mut String, cell: &Cell, column: usize) {
    match cell {
        Cell::Text(text) if column == 0 => put(page, &["<th scope=\"row\">", &escape(text), "</th>"]),
        Cell::Text(text) => put(page, &["<td>", &escape(text), "</td>"]),
        Cell::Number(number) => put(page, &["<td class=\"number\">", &escape(number), "</td>"]),
        Cell::Verdict(verdict) => put(page, &["<td>", &badge(*verdict), "</td>"]),
    }
}

fn badge(verdict: Verdict) -> String {
    let (word, sign) = (verdict.word(), verdict.sign());
    format!("<span class=\"verdict {word}\"><span aria-hidden=\"true\">{sign}</span> {word}</span>")
}
