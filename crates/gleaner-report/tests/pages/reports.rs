//! Pages from any text: well-formed, self-contained, the same every time.

use gleaner_report::{Axis, Bar, Block, Cell, Figure, Gantt, Plot, Report, Series, Style, Table, Verdict};
use roxmltree::{Document, Node, ParsingOptions};

const NASTY: &str = "<script>alert(\"x\")</script>&'\u{0}\u{1b}[31m\u{202e}back\u{2066}\u{200b}";

fn parse(html: &str) -> Document<'_> {
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    Document::parse_with_options(html, options).unwrap_or_else(|error| panic!("{error}\n{html}"))
}

fn figure() -> Figure {
    let plot = Plot::new(NASTY, Axis::linear(NASTY), Axis::linear("y")).with(Series::new(
        NASTY,
        Style::Line,
        [(0.0, 1.0), (1.0, 2.0)],
    ));
    Figure::new(NASTY, plot.svg())
}

fn full() -> Report {
    let table = Table::new(NASTY, [NASTY, "measured", "verdict"])
        .row([Cell::text(NASTY), Cell::number("1,234"), Verdict::Holds.into()])
        .row([Cell::text("b"), Cell::number(NASTY), Verdict::Not.into()])
        .row([Cell::text("short")]);
    Report::new(NASTY)
        .lead(NASTY)
        .with(Block::heading(NASTY))
        .with(Block::text(format!("{NASTY}\n\n{NASTY}")))
        .with(Block::subheading("a part"))
        .with(Block::note(NASTY))
        .with(table)
        .with(Block::heading("figures"))
        .with(figure())
        .with(figure())
        .with(figure())
        .with(Block::heading("end"))
}

fn count(document: &Document<'_>, tag: &str) -> usize {
    document.descendants().filter(|node| node.tag_name().name() == tag).count()
}

#[test]
fn nothing_a_name_holds_becomes_markup() {
    let html = full().html();
    let document = parse(&html);
    assert_eq!(count(&document, "script"), 0);
    assert!(!html.contains("<script"));
    assert_eq!(count(&document, "figure"), 3);
    assert_eq!(count(&document, "figcaption"), 3);
    assert_eq!(count(&document, "svg"), 3);
}

#[test]
fn the_page_needs_nothing_from_outside() {
    let html = full().html();
    let document = parse(&html);
    for node in document.descendants().filter(Node::is_element) {
        assert!(!["link", "img", "iframe", "object", "use", "image"].contains(&node.tag_name().name()));
        assert!(node.attribute("src").is_none());
        let link = node.attribute("href").unwrap_or("#");
        assert!(link.starts_with('#'), "{link}");
    }
    assert!(!html.contains("url(") && !html.contains("@import"));
}

#[test]
fn every_entry_of_the_contents_leads_somewhere() {
    let html = full().html();
    let document = parse(&html);
    let ids: Vec<&str> = document.descendants().filter_map(|node| node.attribute("id")).collect();
    let links: Vec<&str> = document.descendants().filter_map(|node| node.attribute("href")).collect();
    assert_eq!(links.len(), 4);
    assert!(links.iter().all(|link| ids.contains(&&link[1..])));
    let short = Report::new("short").with(Block::heading("one")).with(Block::heading("two")).html();
    assert_eq!(count(&parse(&short), "nav"), 0);
}

#[test]
fn numbers_stand_right_and_rows_are_full() {
    let html = full().html();
    let document = parse(&html);
    let rows: Vec<usize> = document
        .descendants()
        .filter(|node| node.tag_name().name() == "tr")
        .map(|row| row.children().filter(Node::is_element).count())
        .collect();
    assert_eq!(rows, [3, 3, 3, 3]);
    let right = |node: &Node<'_, '_>| node.attribute("class") == Some("number");
    let headers: Vec<&str> = document.descendants().filter(right).filter_map(|node| node.text()).collect();
    assert_eq!(headers[..2], ["measured", "1,234"]);
}

#[test]
fn a_verdict_is_said_in_words_and_a_sign() {
    let html = full().html();
    assert!(html.contains(r#"<span class="verdict holds"><span aria-hidden="true">✓</span> holds</span>"#));
    assert!(html.contains(r#"<span class="verdict not"><span aria-hidden="true">✗</span> not</span>"#));
}

#[test]
fn the_same_report_gives_the_same_bytes() {
    assert_eq!(full().html(), full().html());
    parse(&Report::new("").html());
}

#[test]
fn a_schedule_brings_the_one_script_that_may_run() {
    let bar = Bar { row: 0, rows: Some(1), from_s: 0.0, to_s: 1.0, group: 0, name: NASTY.to_owned() };
    let html = Report::new("r").with(Gantt::new(NASTY, NASTY, [NASTY.to_owned()], [bar])).html();
    let document = parse(&html);
    assert_eq!(count(&document, "script"), 2, "the data and the chart");
    assert!(html.contains("style-src 'unsafe-inline'; script-src 'sha256-"));
    assert!(!html.contains("alert(\""), "{html}");
    assert!(!full().html().contains("script-src"), "who needs none may run none");
}
